"""Crowds read from files: what people answered, before anything is sent."""

"""Crowds that are read from files and frames: what people answered, before anything is sent."""

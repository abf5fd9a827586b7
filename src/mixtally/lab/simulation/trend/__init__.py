"""Counts over time: what a series of collections comes to, and what is shown of it."""

"""Counts over time: the results of a series of collections, and their document."""

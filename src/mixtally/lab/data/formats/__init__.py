"""Formats of data files, each read into the same columns."""

"""Columns made into records: a file for every kind of them."""

"""Counts over time: table, page, CSV and JSON."""

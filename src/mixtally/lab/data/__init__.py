"""Populations with known records, read from files and data frames before anything is sent."""

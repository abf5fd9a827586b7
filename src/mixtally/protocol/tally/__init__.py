"""Counting of messages: one count for each bin, in memory that does not grow with the crowd."""

"""Counting: messages in, one count a bin out, in memory that does not grow with the crowd."""

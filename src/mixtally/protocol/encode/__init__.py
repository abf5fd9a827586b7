"""Encoders from a person's value to a record: the number of a bin, or packed bits."""

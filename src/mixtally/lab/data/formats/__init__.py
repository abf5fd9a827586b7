"""Every format of a data file, read into the same columns."""

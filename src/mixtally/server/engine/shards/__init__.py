"""Messages that lie open in files: written, read and counted, some files at a time."""

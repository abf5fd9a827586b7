"""What the public sees: table, files, one page, and the promise in words. Computes no noise."""

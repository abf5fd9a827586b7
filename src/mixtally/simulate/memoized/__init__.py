"""A crowd whose answers are memoized: its losses, its counts, what is told of both, and a page."""

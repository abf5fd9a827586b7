"""A crowd whose answers are memoized: its losses, its counts, what is said of both, and a page."""

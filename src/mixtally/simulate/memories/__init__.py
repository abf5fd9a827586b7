"""A crowd whose answers are remembered: prices, counts, what an observer learns, and one page."""

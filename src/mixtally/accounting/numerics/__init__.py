"""Sums, tail probabilities and searches with which the divergences are computed."""

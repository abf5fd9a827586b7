"""Sums, tails and searches that the divergences are computed with."""

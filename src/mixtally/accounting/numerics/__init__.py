"""Sums, tails and searches that divergences are computed with."""

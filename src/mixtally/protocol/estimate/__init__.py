"""Estimation from tallies: unbiased counts, standard errors and intervals, without true counts."""

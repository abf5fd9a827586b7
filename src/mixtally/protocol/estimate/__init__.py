"""From a tally to unbiased counts, standard errors and intervals. Knows no true counts."""

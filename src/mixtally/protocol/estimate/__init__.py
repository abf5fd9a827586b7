"""From a tally to unbiased counts, standard errors and intervals. Draws nothing, knows no truth."""

"""Published formulas, recomputed and compared with exact numbers. Only the command line uses it."""

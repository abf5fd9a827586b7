"""The founding documents and published formulas, recomputed; imported by the command line alone."""

"""Ratios to peers and to the limits of the machine, all measured in one run: `make bench`."""

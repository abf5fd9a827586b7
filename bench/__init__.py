"""Benchmarks: speed and accuracy relative to other libraries and to the machine's limits.

``make bench`` runs all of them in one process and prints ratios, which depend less on the machine
than seconds do.
"""

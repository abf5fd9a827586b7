"""Memoized answers: randomized once per value, then reported repeatedly.

This package has their losses, their counts, and the document of both.
"""

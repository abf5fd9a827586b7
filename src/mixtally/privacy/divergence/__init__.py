"""Exact divergences, one mechanism a file, each with its derivation."""

"""Simulations with known data, attacks on mechanisms, and the formulas of published papers.

Nothing here takes part in a real round. Each subpackage explains its own terms.
"""

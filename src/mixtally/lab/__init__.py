"""Simulations with known data, attacks on mechanisms, and the formulas of published papers."""

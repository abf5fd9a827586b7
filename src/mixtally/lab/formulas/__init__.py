"""Formulas of published papers by name, as printed, and their comparison with exact numbers.

No certificate rests on any of them. The folder ``literature`` beside ``src`` is the program that
computes the founding documents again with these formulas.
"""

"""Formulas of published papers by name, as printed, and their comparison with exact numbers.

``mixtally check formula`` uses these formulas, and so does the folder ``literature``, which
recomputes the numbers of the founding documents. No certificate depends on any of the formulas.

Terms: a *fake* is a dummy message without an answer; a *blank* is a fake without set bits. The
*cover* of a formula is the expected number of flips or fakes that it requires.
"""

"""Privacy numbers proved a second time: from the definition, in balls, by a program of its own.

It reads the plain JSON of a contract and shares no code with ``privacy``; needs python-flint.
"""

from mixtally.rigorous.check import PartBracket, check
from mixtally.rigorous.verdict import COLUMNS, Verdict, verdict

__all__ = ["COLUMNS", "PartBracket", "Verdict", "check", "verdict"]

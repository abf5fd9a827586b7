"""Privacy numbers proved a second time: from the definition, in balls, by a program of its own.

It reads the plain JSON of a contract and shares no code with ``privacy``; needs python-flint.
"""

from mixtally.accounting.verification.compare import COLUMNS, VerificationResult, verify_certificate
from mixtally.accounting.verification.derive import derive_parts

__all__ = ["COLUMNS", "VerificationResult", "derive_parts", "verify_certificate"]

"""A second, independent proof of privacy numbers, in ball arithmetic.

``mixtally contract check --rigorous`` calls it. It reads the plain JSON of a plan, derives delta
from its definition, and shares no code with the rest of ``accounting``. It needs python-flint.
"""

from mixtally.accounting.verification.compare import COLUMNS, VerificationResult, verify_certificate
from mixtally.accounting.verification.derive import derive_parts

__all__ = ["COLUMNS", "VerificationResult", "derive_parts", "verify_certificate"]

"""Comparison of a stated certificate with the second derivation.

A certificate is refused if delta cannot be as stated. For one part that is sent once in one
collection, both numbers must agree. For several messages the stated number is composed by the
accountant, which is not repeated here. All messages reveal at least as much as one of them, so the
lower end of each part is a lower end of the whole.
"""

from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import NamedTuple

from mixtally.accounting.verification.derive import PartBracket, derive_parts
from mixtally.accounting.verification.stream import Plain, count_messages, promised_epsilon
from mixtally.errors import PlanError

_SUBJECT = "certificate of the plan"
_DIGITS = 9
COLUMNS = ("part", "protocol", "delta at least", "delta at most", "what was derived")
_WHOLE = "the stated delta of at most {stated} is what was derived again"
_LOOSE = "where at most {stated} is stated, delta was derived again as at most {derived}"
_NEAR = 1e-2
"""Relative excess up to which a derived bound counts as equal to the stated one."""
_CHECKED = "the stated delta of at most {stated} is no lower than what was derived again from below"
_COMPOSED = (
    "of {messages} messages of a person the stated delta of at most {stated} is composed by the "
    "accountant alone; it is no lower than that of any one of them"
)
_ABOVE = (
    "of {messages} messages of a person the stated delta of at most {stated} is composed by the "
    "accountant alone; of some only an upper end was derived, with which it is not compared"
)
_NOTHING = "nothing of the stated delta of at most {stated} was derived again"


class VerificationResult(NamedTuple):
    """A certificate that was not refused.

    ``parts`` has the derivation of each part. ``whole`` is whether the stated number itself was
    derived again, within a hundredth, and ``summary`` is a sentence about it.
    """

    parts: list[PartBracket]
    whole: bool
    summary: str

    def rows(self) -> list[tuple[str, ...]]:
        """Return one row per part under ``COLUMNS``, with numbers rounded outwards."""
        return [
            (
                str(number),
                part.protocol,
                format_bound(part.lower, up=False),
                format_bound(part.upper, up=True),
                part.proved,
            )
            for number, part in enumerate(self.parts, 1)
        ]

    def facts(self) -> dict[str, object]:
        """Return the result as a dict that can be written as one JSON object."""
        return {
            "whole": self.whole,
            "said": self.summary,
            "parts": [part._asdict() for part in self.parts],
        }


def verify_certificate(plan: Plain) -> VerificationResult:
    """Derive the certificate of a plan again and compare it.

    Parameters
    ----------
    plan : mapping
        The plain JSON of the plan.

    Raises
    ------
    PlanError
        If the certificate states less than was derived, or a higher lower end, or another epsilon.
    """
    parts = derive_parts(plan)
    stated = plan["certificate"]
    upper = float(stated["upper"])
    if float(stated["epsilon"]) != promised_epsilon(plan):
        raise _certificate_error(
            "one at the epsilon that is promised", f"epsilon {stated['epsilon']}", _TAKE
        )
    messages = count_messages(plan)
    for part in parts:
        _check_lower_end(part, upper)
    if messages == 1:
        _check_agreement(parts[0], float(stated["lower"]), upper)
    above = parts[0].upper if messages == 1 else None
    whole = above is not None and above <= upper * (1.0 + _NEAR)
    if all((part.lower, part.upper) == (None, None) for part in parts):
        said = _NOTHING
    elif above is None:
        lower = all(part.lower is not None for part in parts)
        said = _CHECKED if messages == 1 else _COMPOSED if lower else _ABOVE
    else:
        said = _WHOLE if whole else _LOOSE
    numbers = {"stated": format_bound(upper, up=True), "derived": format_bound(above, up=True)}
    return VerificationResult(parts, whole, said.format(messages=messages, **numbers))


_TAKE = "the file was altered: take it as it was published"
_FALSE = "do not answer under it: its promise is false"


def _check_lower_end(part: PartBracket, upper: float) -> None:
    """Refuse a stated delta that is below the delta of one message.

    All messages together reveal at least as much as one of them.
    """
    if part.lower is not None and not part.lower <= upper:
        expected = (
            f"delta of at least {format_bound(part.lower, up=False)}, which {part.protocol} has"
        )
        raise _certificate_error(expected, repr(upper), _FALSE)


def _check_agreement(part: PartBracket, lower: float, upper: float) -> None:
    """Compare both ends for one message in one collection.

    The stated upper end is at least the derived one, and the stated lower end at most the derived
    upper one.
    """
    if part.least is not None and not part.least <= upper:
        expected = (
            f"delta of at least {format_bound(part.least, up=False)}, below which no such "
            f"proof comes"
        )
        raise _certificate_error(expected, repr(upper), _TAKE)
    if part.upper is not None and not lower <= part.upper:
        expected = (
            f"a lower end of at most {format_bound(part.upper, up=True)}, which delta "
            f"does not exceed"
        )
        raise _certificate_error(expected, repr(lower), _TAKE)


def format_bound(number: float | None, *, up: bool) -> str:
    """Return ``number`` as text with nine digits, rounded up if ``up``, else down; "-" for None."""
    if number is None:
        return "-"
    context = Context(prec=_DIGITS, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    return f"{context.create_decimal_from_float(number):.{_DIGITS}g}"


def _certificate_error(expected: str, got: str, do: str) -> PlanError:
    return PlanError(_SUBJECT, expected=expected, got=got, do=do)

"""The one error family: every message says what was wanted, what came and what to do.

MixtallyError
|-- InputError            something given from outside cannot be used (exit status 2)
|   |-- ParameterError    a number outside its range
|   |   `-- EffortError   numbers in their ranges, whose price would take too long
|   |-- DataError         a file, a column or a value of the data
|   |-- PlanError         a plan or schema that is foreign, damaged or impossible
|   |-- MessageError      a message of the wrong length or form
|   |-- RefusedError      a contract or value that a device does not take; it names why
|   `-- InfeasibleError   no plan meets the wish; says which nearby wish can be met
`-- AccountingError       a privacy number that cannot be right: the work stops (exit status 3)
"""

from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import Any

_MOST = 99
"""Characters that are shown of something given."""


class MixtallyError(Exception):
    """The root of every error raised on purpose by this package."""


class InputError(MixtallyError):
    """Something given from outside cannot be used.

    The message is one line: ``subject: wanted ..., got ...; what to do``. ``beside`` is what else a
    program is told that asks for JSON.
    """

    def __init__(self, subject: str, *, wanted: str, got: object, do: str) -> None:
        got = " ".join(str(got).splitlines())  # a frame is shown in many
        self.subject, self.wanted, self.got, self.do = subject, wanted, got, do
        self.beside: dict[str, object] = {}
        super().__init__(f"{subject}: wanted {wanted}, got {got}; {do}")


class ParameterError(InputError):
    """A number outside the range in which the mathematics is stated."""


class EffortError(ParameterError):
    """Parameters that have a price, which would take too long: said before the work."""


class DataError(InputError):
    """A data file, a column or one of its values cannot be used."""


class PlanError(InputError):
    """A plan or schema is foreign, damaged, from another version or impossible."""


class MessageError(InputError):
    """A message does not have the length or form its plan prescribes."""


class RefusedError(InputError):
    """A device takes no part under this contract, or not with this value.

    ``reason`` is a short name that clients in every language share; SPEC.md lists them.
    """

    def __init__(self, reason: str, subject: str, *, wanted: str, got: object, do: str) -> None:
        self.reason = reason
        super().__init__(subject, wanted=wanted, got=got, do=do)


class InfeasibleError(InputError):
    """No plan meets the wish; the message names the nearest wish that can be met.

    ``search`` finds the nearest requests that can be met, which takes a while; None where the
    planner was not asked for one plan.
    """

    search: Callable[[], Sequence[Any] | None] | None = None

    @property
    def nearest(self) -> Sequence[Any] | None:
        """The nearest requests that can be met, each with its ``change`` and its ``plan``.

        None where an error or a crowd was sought, or no plan at all.
        """
        return None if self.search is None else self.search()


class AccountingError(MixtallyError):
    """A privacy number is NaN, negative or not monotone: nothing may be promised from it."""


_OTHER_NAMES = {
    "ε": "epsilon", "e": "epsilon", "δ": "delta", "d": "bins", "k": "bins", "n": "users",
    "people": "users", "crowd": "users", "num_users": "users", "population": "users",
    "categories": "labels", "options": "labels", "answers": "labels", "domain": "labels",
    "range": "number", "bounds": "number", "low": "number", "high": "number", "lower": "number",
    "upper": "number", "numbers": "number", "bits": "kind", "attributes": "labels",
    "mechanism": "protocol", "rounds": "collections", "mixes": "hops", "servers": "hops",
    "random_state": "seed", "rng": "seed", "confidence": "level", "alpha": "level",
    "data": "values", "column": "values", "weights": "counts", "groupby": "group_by",
}  # fmt: skip
"""Names that other libraries, or people, use for an argument of this package."""


def check_names(name: str, given: Iterable[str], known: Sequence[str]) -> None:
    """Refuse an argument that a function does not have, and suggest the one that was meant.

    Raises ParameterError. The suggestion is an argument that begins as the unknown one does, one
    that is usually called so, or one of nearly the same letters.
    """
    for strange in (one for one in given if one not in known):
        near = _meant(strange, known)
        raise ParameterError(
            name,
            wanted="arguments that it has",
            got=repr(strange),
            do=f"did you mean {near}?" if near else f"see help(mixtally.{name})",
        )


def _meant(strange: str, known: Sequence[str]) -> str | None:
    plain = strange.casefold()
    begins = [one for one in known if len(plain) > 1 and one.startswith(plain)]
    if len(begins) == 1:
        return begins[0]
    if (usual := _OTHER_NAMES.get(plain)) in known:
        return usual
    near = get_close_matches(plain, known, 1, 0.65)
    return near[0] if near else None


def not_one_of(subject: str, got: object, names: Sequence[str], do: str = "") -> ParameterError:
    """What refuses ``got`` where one of ``names`` was wanted, with the nearest of them."""
    near = get_close_matches(str(got)[:_MOST].replace("_", "-"), names, 1, 0.75)
    shown = repr(got[:_MOST]) if isinstance(got, str) else got
    return ParameterError(
        subject,
        wanted="one of " + ", ".join(names),
        got=shown,
        do=do or (f"did you mean {near[0]}?" if near else "choose one"),
    )


def in_range(subject: str, value: float, low: float, high: float, do: str) -> None:
    """Raises ParameterError unless low <= ``value`` <= high; whole numbers where ``low`` is one."""
    if not low <= value <= high:  # NaN fails every comparison
        raise _outside(subject, value, f"[{_shown(low)}, {_shown(high)}]", low, do)


def strictly_within(subject: str, value: float, low: float, high: float, do: str) -> None:
    """Raises ParameterError unless low < ``value`` < high."""
    if not low < value < high:
        raise _outside(subject, value, f"({_shown(low)}, {_shown(high)})", low, do)


def _outside(subject: str, value: float, range_: str, low: float, do: str) -> ParameterError:
    kind = "an integer" if isinstance(low, int) else "a number"
    got = f"{value:,}" if isinstance(value, int) else value
    return ParameterError(subject, wanted=f"{kind} in {range_}", got=got, do=do)


def _shown(end: float) -> str:
    return f"{end:,}" if isinstance(end, int) else f"{end:g}"

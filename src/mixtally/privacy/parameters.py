"""From a protocol's name and parameters, as people give them, to the record that is accounted for.

Every protocol needs some parameters and may take others. What is left out of those it can be
calibrated by is found by ``calibrate``.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields

from mixtally.errors import ParameterError
from mixtally.privacy.accountant import Record
from mixtally.privacy.divergence import CountedParameters, ParameterRules
from mixtally.privacy.divergence.registry import DIVERGENCES
from mixtally.records.guarantee import MOST_USERS, arriving, checked_fraction
from mixtally.records.mechanism import Parameter, mechanism_of, protocols
from mixtally.records.mechanism.base import MOST_REPEATS
from mixtally.records.mechanism.fakes import MOST_FAKES
from mixtally.records.mechanism.parameters import Parameters
from mixtally.records.question import MOST_BINS, MOST_BITS, MOST_SET

__all__ = ["Parameters", "Parsed", "parsed", "protocols"]


_SETS = ("flip", "flip-blank", "clear-uniform", "clear-shaped", "kary-response")
"""Protocols that hide a set whole."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """The record that parameters describe.

    where
      counted   with the fakes and people that certainly are honest: the promise is about these
      sent      with everybody and everything that is promised: errors are about these
      sought    what is to be found; nothing where everything was given
      crowd     people whose flips are counted on, None where nobody's are
    """

    counted: Record
    sent: Record
    sought: Parameter | None
    crowd: int | None


def parsed(
    name: str, given: Parameters, honest_share: float = 1.0, *, for_epsilon: float | None = None
) -> Parsed:
    """The record of protocol ``name`` with these parameters.

    ``for_epsilon`` when one of them was left out, to be found for that epsilon.

    Raises ParameterError for an unknown protocol, for what is missing, not taken, contradictory or
    out of range.
    """
    own = DIVERGENCES[mechanism_of(name)]
    takes = _instead(own.PROTOCOLS[name], given)
    sought = None if for_epsilon is None else _sought(name, takes, given)
    left_out = set() if sought is None else {sought[0]}
    if for_epsilon is not None and given.shape_decay is None:
        left_out.add("shape_decay")
    _check(name, takes, given, left_out)
    fraction = checked_fraction(honest_share)
    counted = own.counts_people(name, given)
    if fraction < 1.0 and not counted and "fakes" not in takes.required:
        raise ParameterError(
            "--honest-share",
            wanted="a protocol that counts on people's fakes or flips",
            got=name,
            do="leave it out: its noise is no other person's",
        )
    fakes, crowd = given.fakes or 0, given.users or 0 if counted else 0
    sure = CountedParameters(
        given, arriving(fakes, fraction), arriving(crowd, fraction), for_epsilon
    )
    return Parsed(
        Record(*own.record_fields(name, sure)),
        Record(*own.record_fields(name, CountedParameters(given, fakes, crowd, for_epsilon))),
        None if sought is None else sought[1],
        sure.crowd if counted else None,
    )


def _instead(takes: ParameterRules, given: Parameters) -> ParameterRules:
    """A variance stands in place of a decay: it is that of another shape."""
    if given.shape_variance is None or "shape_decay" not in takes.required:
        return takes
    return takes._replace(required=takes.required - {"shape_decay"} | {"shape_variance"})


def _sought(name: str, takes: ParameterRules, given: Parameters) -> tuple[str, Parameter]:
    """The parameter that was left out; raises ParameterError when none was."""
    for field, parameter in takes.sought:
        if getattr(given, field) is None:
            return field, parameter
    sought = [field for field, _ in takes.sought]
    raise ParameterError(
        name,
        wanted="what is to be found left out",
        got=_flags(sought),
        do="leave one out, or ask `mixtally check delta` what they leave",
    )


def _check(name: str, takes: ParameterRules, given: Parameters, left_out: set[str]) -> None:
    names, needs, may = given.given(), takes.required - left_out, takes.optional | left_out
    if not needs <= names or not names <= needs | may:
        raise ParameterError(
            name,
            wanted=_flags(needs) or "nothing",
            got=_flags(names) or "neither",
            do="give exactly these parameters" + (f"; it may take {_flags(may)}" if may else ""),
        )
    limits = {
        "users": (2, MOST_USERS),
        "fakes": (0, MOST_FAKES),
        "bins": (2, MOST_BINS),
        "bits": (1, MOST_BITS),
        "repeats": (1, MOST_REPEATS),
        "max_set": (1, MOST_SET),
        "ones": (0, (given.users or 2) - 1),
    }
    for field, (low, high) in limits.items():
        value = getattr(given, field)
        if value is not None and not low <= value <= high:
            raise ParameterError(
                field.replace("_", " "),
                wanted=f"an integer in [{low:,}, {high:,}]",
                got=f"{value:,}",
                do="choose one in this range",
            )
    _check_together(name, given)


def _check_together(name: str, given: Parameters) -> None:
    for flag, value in (("bins", given.bins), ("max-set", given.max_set)):
        if given.bits is not None and value is not None:
            raise ParameterError(
                name,
                wanted=f"--{flag} or --bits",
                got="both",
                do="a record is one of --bins, or a set of them, or free --bits",
            )
    if given.background not in (None, "zero"):
        raise ParameterError(
            "background", wanted="zero", got=repr(given.background), do="leave it out for any"
        )
    if given.background is not None and given.bits is None:
        raise ParameterError(
            name,
            wanted="--bits beside --background",
            got="--background alone",
            do="leave it out: other records are accounted for in any crowd",
        )
    if given.count_crowd and given.users is None:
        raise ParameterError(
            name,
            wanted="--users, the people who are counted on",
            got="--count-crowd alone",
            do="say how many honest people take part",
        )
    if (given.max_set or 1) > 1 and not given.split and name not in _SETS:
        raise ParameterError(
            name,
            wanted="one set bit a message",
            got=f"--max-set {given.max_set}",
            do="add --split: every attribute travels as a message of its own",
        )


def _flags(names: Iterable[str]) -> str:
    """Parameters as people give them, in their usual order."""
    order = [field.name for field in fields(Parameters)]
    chosen = set(names)
    return " and ".join("--" + name.replace("_", "-") for name in order if name in chosen)

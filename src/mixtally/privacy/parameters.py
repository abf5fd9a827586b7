"""From a protocol's name and parameters, as people give them, to the record that is accounted for.

Every protocol needs some parameters and may take others. What is left out of those it can be
calibrated by is found by ``calibrate``.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields

from mixtally.errors import ParameterError
from mixtally.ground.fixed import MOST_THRESHOLD, threshold_of
from mixtally.privacy.accountant import Record
from mixtally.privacy.calibrate import usual_ratio
from mixtally.privacy.divergence import Message
from mixtally.records.guarantee import MOST_USERS, Observer, arriving, checked_fraction
from mixtally.records.mechanism import (
    BitFlips,
    BlankFakes,
    InClear,
    NoFakes,
    Parameter,
    ShapedFakes,
    Shuffled,
    UniformFakes,
)
from mixtally.records.mechanism.fakes import MOST_FAKES, ratio_of
from mixtally.records.question import MOST_BINS

ANY_BINS = MOST_BINS
"""Where nobody says how many bins there are, no divergence may be smaller for their number."""
_APART = "; every bit is a message of its own and the mixes keep them apart"
_ALONE = "; other people's answers in clear hide nobody at worst"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """Parameters by the names of their options; None for what was not given.

    where
      users, fakes   in the whole collection; honest or not
      flip           flip probability, in [2^-40, 1/2]
      bins, bits     of a value or a set; of free bits
      ones           other people known to hold a one (single-bit)
      background     "zero" when all others are known to hold zeros (free bits)
      split          whether every bit, or every attribute, is a message of its own
      count_crowd    whether other people's flips count beside the fakes
    """

    users: int | None = None
    fakes: int | None = None
    flip: float | None = None
    bins: int | None = None
    bits: int | None = None
    ones: int | None = None
    max_set: int | None = None
    repeats: int | None = None
    shape_decay: float | None = None
    shape_shift: int | None = None
    mixes: int | None = None
    observer: Observer = Observer.MESSAGES
    background: str | None = None
    split: bool = False
    count_crowd: bool = False

    def given(self) -> set[str]:
        """Names of what was given."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        usual = Observer.MESSAGES
        return {n for n, v in values.items() if not (v is None or v is False or v is usual)}


_ALWAYS = {"users", "count_crowd", "repeats"}
_TAKES: dict[str, tuple[set[str], set[str]]] = {
    "flip-blank": ({"fakes", "flip"}, {"bins", "max_set", "split"} | _ALWAYS),
    "clear-uniform": ({"fakes", "bins"}, {"max_set", "split"} | _ALWAYS),
    "clear-shaped": (
        {"shape_decay", "shape_shift"}, {"bins", "max_set", "split", "mixes"} | _ALWAYS
    ),
    "single-bit": ({"users", "fakes", "flip"}, {"ones"} | _ALWAYS),
    "flip": (
        {"users", "flip"},
        {"bins", "bits", "max_set", "observer", "background", "split"} | _ALWAYS,
    ),
    "flip-uniform": ({"users", "fakes", "bins", "flip"}, {"observer", "max_set", "split"} | _ALWAYS),
}  # fmt: skip
"""By protocol: what it must have, and what it may have."""
_SOUGHT: dict[str, tuple[tuple[str, Parameter], ...]] = {
    "flip-blank": (("flip", Parameter.FLIP), ("fakes", Parameter.FAKES)),
    "clear-uniform": (("fakes", Parameter.FAKES),),
    "clear-shaped": (("shape_shift", Parameter.SHIFT),),
    "single-bit": (("flip", Parameter.FLIP), ("fakes", Parameter.FAKES)),
    "flip": (("flip", Parameter.FLIP),),
    "flip-uniform": (("flip", Parameter.FLIP), ("fakes", Parameter.FAKES)),
}
"""By protocol: what may be found, in this order."""
PROTOCOLS = tuple(_TAKES)


@dataclass(frozen=True, slots=True)
class Parsed:
    """What was asked about.

    where
      counted   with the fakes and people that surely are honest: the promise is about these
      sent      with everybody and everything that is promised: errors are about these
      sought    what is to be found; nothing where everything was given
      crowd     people whose flips are counted on, None where nobody's are
    """

    counted: Record
    sent: Record
    sought: Parameter | None
    crowd: int | None


def parsed(
    name: str, given: Parameters, honest_fraction: float = 1.0, *, for_epsilon: float | None = None
) -> Parsed:
    """The record of protocol ``name`` with these parameters.

    ``for_epsilon`` when one of them was left out, to be found for that epsilon.

    Raises ParameterError for an unknown protocol, for what is missing, not taken, contradictory or
    out of range.
    """
    if name not in _TAKES:
        raise ParameterError(
            "protocol", wanted="one of " + ", ".join(_TAKES), got=repr(name), do="choose one"
        )
    free = None if for_epsilon is None else _free(name, given)
    left_out = set() if free is None else {free[0]}
    if for_epsilon is not None and given.shape_decay is None:
        left_out.add("shape_decay")
    _check(name, given, left_out)
    fraction = checked_fraction(honest_fraction)
    if fraction < 1.0 and name == "clear-shaped":
        raise ParameterError(
            "--honest-fraction", wanted="a protocol that counts on people's fakes or flips",
            got=name, do="leave it out: its noise is no other person's",
        )  # fmt: skip
    sought = None if free is None else free[1]
    crowd = given.users if _counts_people(name, given) else None
    sure = None if crowd is None else arriving(crowd, fraction)
    return Parsed(
        _record(name, given, arriving(given.fakes or 0, fraction), sure or 0, for_epsilon),
        _record(name, given, given.fakes or 0, crowd or 0, for_epsilon),
        sought,
        sure,
    )


def _free(name: str, given: Parameters) -> tuple[str, Parameter]:
    """The parameter that was left out; raises ParameterError when none was."""
    for field, parameter in _SOUGHT[name]:
        if getattr(given, field) is None:
            return field, parameter
    sought = [field for field, _ in _SOUGHT[name]]
    raise ParameterError(
        name, wanted="what is to be found left out", got=_flags(sought),
        do="leave one out, or ask `mixtally delta` what they leave",
    )  # fmt: skip


def _check(name: str, given: Parameters, left_out: set[str]) -> None:
    needs, may = _TAKES[name]
    came, needs, may = given.given(), needs - left_out, may | left_out
    if not needs <= came or not came <= needs | may:
        raise ParameterError(
            name,
            wanted=_flags(needs) or "nothing",
            got=_flags(came) or "neither",
            do="give exactly these parameters" + (f"; it may take {_flags(may)}" if may else ""),
        )
    limits = {
        "users": (2, MOST_USERS), "fakes": (0, MOST_FAKES), "bins": (2, MOST_BINS),
        "bits": (1, 64), "repeats": (1, 1000), "max_set": (1, 16), "ones": (0, (given.users or 2) - 1),
    }  # fmt: skip
    for field, (low, high) in limits.items():
        value = getattr(given, field)
        if value is not None and not low <= value <= high:
            raise ParameterError(
                field.replace("_", " "), wanted=f"an integer in [{low:,}, {high:,}]",
                got=f"{value:,}", do="choose one in this range",
            )  # fmt: skip
    _check_together(name, given)


def _check_together(name: str, given: Parameters) -> None:
    for flag, value in (("bins", given.bins), ("max-set", given.max_set)):
        if given.bits is not None and value is not None:
            raise ParameterError(
                name, wanted=f"--{flag} or --bits", got="both",
                do="a record is one of --bins, or a set of them, or free --bits",
            )  # fmt: skip
    if given.background not in (None, "zero"):
        raise ParameterError(
            "background", wanted="zero", got=repr(given.background), do="leave it out for any"
        )
    if given.background is not None and given.bits is None:
        raise ParameterError(
            name, wanted="--bits beside --background", got="--background alone",
            do="leave it out: other records are priced for any crowd",
        )  # fmt: skip
    if given.count_crowd and given.users is None:
        raise ParameterError(
            name, wanted="--users, the people who are counted on", got="--count-crowd alone",
            do="say how many honest people take part",
        )  # fmt: skip
    if (given.max_set or 1) > 1 and not given.split and name not in ("flip", "flip-blank"):
        raise ParameterError(
            name, wanted="one set bit a message", got=f"--max-set {given.max_set}",
            do="add --split: every attribute travels as a message of its own",
        )  # fmt: skip


def _counts_people(name: str, given: Parameters) -> bool:
    """Whether other people's flips are what hides a person."""
    if name.startswith("clear") or given.users is None:
        return False
    always = name in ("flip", "single-bit") or given.count_crowd
    return always or given.observer is Observer.SUMS or _bit_by_bit(name, given)


def _bit_by_bit(name: str, given: Parameters) -> bool:
    """Whether a value is sent one bit a message: that is seen as sums are."""
    return given.split and (given.max_set or 1) == 1 and name in ("flip", "flip-uniform")


def _record(
    name: str, given: Parameters, fakes: int, crowd: int, for_epsilon: float | None
) -> Record:
    mechanism, pieces = _mechanism(name, given, fakes, crowd, for_epsilon)
    summed = _bit_by_bit(name, given) and given.bits is None
    observer = Observer.SUMS if summed else given.observer
    others = 0 if given.background else given.ones
    note = _APART if given.split and pieces == 1 else ""
    if name.startswith("clear") and given.count_crowd:
        note += _ALONE
    return Record(Message(mechanism, observer, others), pieces, note)


def _mechanism(
    name: str, given: Parameters, fakes: int, crowd: int, for_epsilon: float | None
) -> tuple[Shuffled, int]:
    """One message of a record, and how many it takes; a threshold that is sought is not read."""
    bins, repeats = given.bins or ANY_BINS, given.repeats or 1
    pieces = given.max_set or 1 if given.split else 1
    if name == "clear-uniform":
        return InClear(bins=bins, fakes=UniformFakes(fakes), repeats=repeats), pieces
    if name == "clear-shaped":
        shift = given.shape_shift
        if given.shape_decay is None:
            ratio = usual_ratio(for_epsilon or 0.0, pieces * repeats)
        else:
            ratio = ratio_of(given.shape_decay)
        mixes = 1 if given.mixes is None else given.mixes
        shaped = ShapedFakes(ratio, 1 if shift is None else shift, mixes)
        return InClear(bins=bins, fakes=shaped, repeats=repeats), pieces
    threshold = MOST_THRESHOLD if given.flip is None else threshold_of(given.flip)
    most: int | None = 1 if given.split else given.max_set or 1
    hiding: NoFakes | BlankFakes | UniformFakes = BlankFakes(fakes)
    if name == "single-bit" or given.bits is not None:
        apart = given.split or given.bits is None
        most, bins = None, 1 if apart else given.bits or 1
        pieces = given.bits or 1 if apart else 1
    if name == "flip":
        hiding = NoFakes()
    if name == "flip-uniform":
        hiding = UniformFakes(fakes)
    made = BitFlips(
        bins=bins, threshold=threshold, max_set=most, fakes=hiding, crowd=crowd, repeats=repeats
    )
    return made, pieces


def _flags(names: Iterable[str]) -> str:
    """Parameters as people give them, in their usual order."""
    order = [field.name for field in fields(Parameters)]
    chosen = set(names)
    return " and ".join("--" + name.replace("_", "-") for name in order if name in chosen)

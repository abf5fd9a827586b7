"""``delta`` and ``calibrate``: what parameters keep, and the least noise that keeps a guarantee."""

from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

from mixtally.door import checks
from mixtally.door.wish import guarantee_of
from mixtally.errors import ParameterError
from mixtally.privacy.accountant import Accountant, Record
from mixtally.privacy.calibrate import calibrate as search
from mixtally.privacy.divergence import memoized as memory
from mixtally.privacy.parameters import Parameters, Parsed, parsed, protocols
from mixtally.records.certificate import Certificate
from mixtally.records.guarantee import Observer, checked_epsilon, promised
from mixtally.records.mechanism import BitFlips, FakeSource, NoFakes, Parameter, Shuffled
from mixtally.records.mechanism.memoized import memoized
from mixtally.report.numbers import at_most, number
from mixtally.report.promise import assumes

_FLAGS, _TEXTS = ("split", "count_crowd"), ("background",)
_NUMBERS = ("flip", "shape_decay", "honest_fraction", "permanent", "p", "q")
_MEMORY = ("permanent", "p", "q", "hashes", "reports")


class Given(TypedDict, total=False):
    """Parameters by name; which of them a protocol takes, `mixtally check delta --help` lists.

    where
      users, fakes     in the whole collection
      flip             flip probability, in [2^-40, 1/2]
      bins, bits       of a value or a set; of free bits
      ones             other people known to hold a one
      max_set          the most bins of a set
      repeats          how often a record is sent
      shape_decay, shape_shift, mixes   of fakes that mixes draw
      observer         "messages" or "sums"
      background       "zero" when all others are known to hold zeros
      split            whether every bit or attribute is a message of its own
      count_crowd      whether other people's flips count
      honest_fraction  share of fakes and people that is counted on, in (0, 1]
      permanent, p, q, hashes, reports   of the protocol "memory"
    """

    users: int | None
    fakes: int | None
    flip: float | None
    bins: int | None
    bits: int | None
    ones: int | None
    max_set: int | None
    repeats: int | None
    shape_decay: float | None
    shape_shift: int | None
    mixes: int | None
    observer: str
    background: str | None
    split: bool
    count_crowd: bool
    honest_fraction: float
    permanent: float | None
    p: float | None
    q: float | None
    hashes: int | None
    reports: int | None


@dataclass(frozen=True, slots=True)
class Calibrated:
    """The least noise that keeps a guarantee.

    where
      certificate      what is proved of it: observer, status and assumption are in it
      found            what was found, by its name
      standard_error   of one count, in counts; None where nobody said how many people
    """

    certificate: Certificate
    found: dict[str, Any]
    standard_error: float | None

    def __repr__(self) -> str:
        shown, error = self.certificate, self.standard_error
        names = ", ".join(f"{name} {value:,.9g}" for name, value in self.found.items())
        return (
            f"epsilon = {at_most(shown.epsilon, 6)}, delta <= {at_most(shown.upper, 6)} "
            f"({shown.status}, observer: {shown.observer}). {assumes(shown.assumption)}."
            f"\n{names}" + ("" if error is None else f"\nstandard error {number(error)} counts")
        )


@checks.in_python
def delta(protocol: str, *, epsilon: float, **given: Unpack[Given]) -> Certificate:
    """The exact delta of any parameters, with its observer, its proof and what it rests on.

    where
      protocol   flip-blank, flip-uniform, flip, single-bit, clear-uniform, clear-shaped or memory
      epsilon    at which delta is wanted, in [0.01, 20]
      given      its parameters: ``mixtally.door.pricing.Given``

    Raises ParameterError for parameters that are missing, not taken or out of range.

    >>> mixtally.delta("clear-uniform", epsilon=1, bins=10, fakes=1_000).upper
    """
    at = checked_epsilon(checks.number("epsilon", epsilon))
    values, fraction = checked(protocol, given)
    if protocol == "memory":
        needs = [*_MEMORY]
        mechanism, reports = _memory(values, needs, fraction)
        return memory.certificate(mechanism, reports, at)
    return Accountant().certificate(_parsed(protocol, values, fraction).counted, at)


@checks.in_python
def calibrate(protocol: str, *, epsilon: float, delta: float, **given: Unpack[Given]) -> Calibrated:
    """The least noise that keeps a guarantee: finds what is left out of a protocol's parameters.

    where
      protocol   as ``delta`` has it
      epsilon    the largest privacy loss, in [0.01, 20]
      delta      the chance left over, in [1e-15, 0.1]
      given      its parameters without flip, or fakes, or the shape, or permanent

    Raises ParameterError as ``delta`` does, InfeasibleError when no such noise is there.

    >>> mixtally.calibrate("clear-uniform", epsilon=1, delta=1e-6, bins=10)
    """
    wanted = guarantee_of(epsilon, delta)
    values, fraction = checked(protocol, given)
    if protocol == "memory":
        mechanism, reports = _memory({**values, "permanent": 1.0}, [*_MEMORY], fraction)
        found = memory.least_permanent(mechanism, reports, wanted.epsilon, wanted.delta)
        error = found.standard_error(values.get("users") or 1, reports)
        proved = memory.certificate(found, reports, wanted.epsilon)
        return Calibrated(proved, {"permanent": found.f}, error)
    accountant = Accountant()
    asked = _parsed(protocol, values, fraction, for_epsilon=wanted.epsilon)
    if asked.sought is None:
        raise AssertionError("nothing is to be found")
    record = search(accountant, asked.counted, asked.sought, wanted.epsilon, wanted.delta)
    sent = _sent(asked, record, values.get("fakes") or 0, fraction).message.mechanism
    facts = _found(record.message.mechanism, sent, asked.sought)
    people = values.get("users", _fakes(sent))
    noise = sent.standard_error(people) if people else None
    return Calibrated(accountant.certificate(record, wanted.epsilon), facts, noise)


def checked(protocol: object, given: Given) -> tuple[dict[str, Any], float]:
    """Parameters that were given, each of its type, and the honest fraction.

    Raises ParameterError for another type or protocol.
    """
    checks.chosen("protocol", protocol, [*protocols(), "memory"])
    values: dict[str, Any] = {}
    for name, value in given.items():
        if value is not None:
            values[name] = _typed(name, value)
    return values, values.pop("honest_fraction", 1.0)


def _typed(name: str, value: object) -> Any:
    if name == "observer":
        return Observer(checks.chosen("observer", value, ["messages", "sums"]))
    if name in _FLAGS:
        return checks.flag(name, value)
    if name in _TEXTS:
        return checks.text(name, value)
    return (checks.number if name in _NUMBERS else checks.whole)(name.replace("_", " "), value)


def _parsed(
    protocol: str, values: dict[str, Any], fraction: float, for_epsilon: float | None = None
) -> Parsed:
    if strange := [name for name in _MEMORY if name in values]:
        raise ParameterError(
            protocol,
            wanted="its own parameters",
            got=" and ".join(strange),
            do="leave them out: they belong to memory",
        )
    return parsed(protocol, Parameters(**values), fraction, for_epsilon=for_epsilon)


def _memory(values: dict[str, Any], needs: list[str], fraction: float) -> Any:
    if not set(needs) <= set(values) <= {*needs, "users"} or fraction < 1.0:
        raise ParameterError(
            "memory",
            wanted=" and ".join(needs),
            got=" and ".join(values) or "nothing",
            do="give exactly these; it may take users, and no honest_fraction",
        )
    hashes = values["hashes"]
    made = memoized(
        max(2, 2 * hashes), values["permanent"], values["p"], values["q"], hashes=hashes
    )
    return made, values["reports"]


def _fakes(sent: Shuffled) -> int | None:
    """People's fakes in one round; None for a mechanism that has none."""
    if sent.fake_source is FakeSource.MIX:
        return None
    if isinstance(sent, BitFlips) and isinstance(sent.fakes, NoFakes):
        return None
    return sent.fakes_promised // sent.repeats


def _sent(asked: Parsed, found: Record, fakes: int, fraction: float) -> Record:
    """``found`` with every fake that is promised, honest or not."""
    counted = _fakes(found.message.mechanism)
    if counted is None:
        return found
    many = promised(counted, fraction) if asked.sought is Parameter.FAKES else fakes
    return found.having(Parameter.FAKES, many)


def _found(counted: Shuffled, sent: Shuffled, sought: Parameter) -> dict[str, Any]:
    if sought is Parameter.FAKES:
        return {"fakes": _fakes(sent)}
    if sought is Parameter.FLIP and isinstance(counted, BitFlips):
        return {"flip": counted.flip_probability}
    if counted.shaped is not None:
        return {"shape_decay": counted.shaped.decay, "shape_shift": counted.shaped.shift}
    raise AssertionError(f"{sought}: nothing is known to be found")

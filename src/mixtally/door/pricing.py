"""``delta`` and ``calibrate``: what parameters keep, and the least noise that keeps a guarantee."""

from dataclasses import dataclass
from typing import Any

from mixtally.app.mechanism import (
    PROTOCOLS,
    MechanismOptions,
    as_sent,
    fakes_of,
    memoized,
    parsed,
    standard_error,
)
from mixtally.door import checks
from mixtally.door.promise import guarantee_of
from mixtally.privacy.accountant import Accountant
from mixtally.privacy.calibrate import calibrate as search
from mixtally.privacy.divergence import memoized as memory
from mixtally.records.certificate import Certificate
from mixtally.records.guarantee import checked_epsilon
from mixtally.records.mechanism import BitFlips, KaryResponse, Parameter, Shuffled
from mixtally.report.numbers import at_most, number
from mixtally.report.words import assumes


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters(MechanismOptions):
    """Parameters by name; which of them a protocol takes, `mixtally check delta --help` lists."""

    mixes: int | None = None


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
@checks.takes(Parameters)
def delta(protocol: str, *, epsilon: float, **given: Any) -> Certificate:
    """The exact delta of any parameters, with its observer, its proof and what it rests on.

    where
      protocol   flip-blank, flip-uniform, flip, single-bit, clear-uniform, kary-response,
                 clear-shaped or memory
      epsilon    at which delta is wanted, in [0.01, 20]
      given      its parameters: ``mixtally.app.mechanism.MechanismOptions``

    Raises ParameterError for parameters that are missing, not taken or out of range.

    >>> mixtally.delta("clear-uniform", epsilon=1, bins=10, fakes=1_000).upper
    """
    at = checked_epsilon(checks.number("epsilon", epsilon))
    options = _options(protocol, given)
    if options.protocol == "memory":
        return memory.certificate(*memoized(options), at)
    return Accountant().certificate(parsed(options).counted, at)


@checks.in_python
@checks.takes(Parameters)
def calibrate(protocol: str, *, epsilon: float, delta: float, **given: Any) -> Calibrated:
    """The least noise that keeps a guarantee: finds what is left out of a protocol's parameters.

    where
      protocol   as ``delta`` has it
      epsilon    the largest privacy loss, in [0.01, 20]
      delta      of the (epsilon, delta) guarantee, in [1e-15, 0.1]
      given      its parameters without flip, or fakes, or the shape, or permanent

    Raises ParameterError as ``delta`` does, InfeasibleError when no such noise is there.

    >>> mixtally.calibrate("clear-uniform", epsilon=1, delta=1e-6, bins=10)
    """
    wanted, options = guarantee_of(epsilon, delta), _options(protocol, given)
    if options.protocol == "memory":
        mechanism, reports = memoized(options, seek=True)
        found = memory.least_permanent(mechanism, reports, wanted.epsilon, wanted.delta)
        error = found.standard_error(options.users or 1, reports)
        proved = memory.certificate(found, reports, wanted.epsilon)
        return Calibrated(proved, {"permanent": found.f}, error)
    accountant, asked = Accountant(), parsed(options, for_epsilon=wanted.epsilon)
    if asked.sought is None:
        raise AssertionError("nothing is to be found")
    record = search(accountant, asked.counted, asked.sought, wanted.epsilon, wanted.delta)
    sent = as_sent(options, asked, record).message.mechanism
    facts = _found(record.message.mechanism, sent, asked.sought)
    noise, people = standard_error(options, asked, record)
    proof = accountant.certificate(record, wanted.epsilon)
    return Calibrated(proof, facts, noise if people else None)


def _options(protocol: object, given: dict[str, object]) -> Parameters:
    """The parameters, each of its type; ParameterError for another type or protocol."""
    name = checks.chosen("protocol", protocol, PROTOCOLS)
    return checks.made(Parameters, {**given, "protocol": name})


def _found(counted: Shuffled, sent: Shuffled, sought: Parameter) -> dict[str, Any]:
    if sought is Parameter.FAKES:
        return {"fakes": fakes_of(sent)}
    if sought is Parameter.FLIP and isinstance(counted, BitFlips):
        return {"flip": counted.flip_probability}
    if isinstance(counted, KaryResponse):
        return {"replaced": counted.chance}
    if counted.shaped is not None:
        facts = counted.shaped.shape.facts()
        return {name: value for name, value in facts.items() if name != "shape_ratio"}
    raise AssertionError(f"{sought}: nothing is known to be found")

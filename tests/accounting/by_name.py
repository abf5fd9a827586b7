"""Records by a protocol's name and parameters as people give them, their integers being exact."""

from msgspec.structs import replace

from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.calibrate import calibrate
from mixtally.accounting.parameters import Parameters, parse_parameters
from mixtally.model.certificate import Certificate
from mixtally.model.mechanism import Parameter


def record(name: str, *, threshold=None, ratio=None, shift=None, for_epsilon=None, **given):
    """What is asked about; ``threshold`` and ``ratio`` are integers over 2^64, where given."""
    return found(name, threshold, ratio, shift, for_epsilon, given)[0]


def found(name, threshold, ratio, shift, for_epsilon, given) -> tuple[Record, Parameter | None]:
    """The record, and what is to be found of it."""
    asked = Parameters(
        flip=None if threshold is None else 0.25,
        shape_decay=None if ratio is None else 0.5,
        shape_shift=shift,
        **given,
    )
    read = parse_parameters(name, asked, for_epsilon=for_epsilon)
    made = read.honest_record
    if threshold is not None:
        made = made.with_parameter(Parameter.FLIP, threshold)
    if ratio is not None:
        mechanism = made.message.mechanism
        shape = replace(mechanism.fakes.shape, ratio=ratio)
        exact = replace(mechanism, fakes=replace(mechanism.fakes, shape=shape))
        made = Record(made.message._replace(mechanism=exact), made.pieces, made.note)
    return made, read.sought_parameter


def certificate_of(name: str, epsilon: float, *, accountant=None, **given) -> Certificate:
    """Its certificate; from an accountant that knows nothing yet unless one is given."""
    return (accountant or Accountant()).certificate(record(name, **given), epsilon)


def calibrated(
    name: str, epsilon: float, delta: float, *, more=None, accountant=None, **given
) -> Record:
    """The record with the least of what was left out, that keeps the guarantee."""
    exact = {key: given.pop(key, None) for key in ("threshold", "ratio", "shift")}
    made, sought = found(name, *exact.values(), epsilon, given)
    return calibrate(accountant or Accountant(), made, sought, epsilon, delta, **(more or {}))


def value(made: Record, parameter: Parameter) -> int:
    """The integer of a parameter."""
    mechanism = made.message.mechanism
    match parameter:
        case Parameter.FLIP:
            return mechanism.threshold
        case Parameter.FAKES:
            return mechanism.fakes.count
        case Parameter.REPLACED:
            return mechanism.replaced
        case Parameter.SHIFT:
            return mechanism.fakes.shape.shift

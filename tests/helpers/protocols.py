"""Parameters of every protocol, taken from the tables of the mechanisms themselves.

A mechanism that is added has its examples here without a change.
"""

from mixtally.model.mechanism import mechanism_of
from mixtally.model.mechanism.parameters import Parameters, ParameterSpec

USUAL = {"users": 5000, "fakes": 900, "bins": 50, "max_set": 2, "repeats": 2, "flip": 1 / 12}
"""Values at which noise can be found for a strict promise; other parameters have some value."""


def value_of(spec: ParameterSpec):
    """Return a value that ``spec`` allows and that is not its default."""
    if spec.name in USUAL:
        return USUAL[spec.name]
    if spec.kind is bool:
        return True
    if spec.choices:
        return spec.choices[-1]
    if spec.low is None or spec.high is None or isinstance(spec.high, str):
        return spec.kind(spec.low or 0.5)
    if spec.kind is int:
        return min(max(spec.low, 9), spec.high)
    return min(spec.low + (spec.high - spec.low) / 4, 0.5)


def examples_of(protocol: str) -> Parameters:
    """Return what ``protocol`` requires, and nothing else."""
    kind = mechanism_of(protocol)
    required = kind.PROTOCOLS[protocol].required
    return Parameters(
        **{one.name: value_of(one) for one in kind.PARAMETERS if one.name in required}
    )

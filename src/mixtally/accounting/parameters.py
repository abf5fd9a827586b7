"""The record that a protocol's name and parameters describe.

The application layer calls this module for ``mixtally check delta`` and ``mixtally check noise``.
Every protocol requires some parameters and accepts others, by the table of its mechanism. If a
parameter that can be calibrated is left out, ``calibrate`` finds it.
"""

from dataclasses import dataclass, replace

from mixtally.accounting.accountant import Record
from mixtally.accounting.divergence import CountedParameters
from mixtally.accounting.divergence.registry import DIVERGENCES
from mixtally.errors import ParameterError, not_together
from mixtally.model.guarantee import check_fraction, count_arriving
from mixtally.model.mechanism import Mechanism, Parameter, mechanism_of, mechanisms, protocols
from mixtally.model.mechanism.parameters import (
    ParameterRules,
    Parameters,
    ParameterSpec,
    check_names_given,
    format_flags,
)

__all__ = [
    "Parameters",
    "ParsedParameters",
    "check_parameters",
    "find_sought_parameter",
    "parameter_table",
    "parse_parameters",
    "protocols",
]


@dataclass(frozen=True, slots=True)
class ParsedParameters:
    """The record that parameters describe.

    Attributes
    ----------
    honest_record
        The record with the fakes and people that are certainly honest. The guarantee is computed
        for this record.
    full_record
        The record with all people and fakes. Errors are computed for this record.
    sought_parameter
        The parameter to be found; None if all were given.
    crowd
        The number of people whose flips count; None if nobody's flips count.
    """

    honest_record: Record
    full_record: Record
    sought_parameter: Parameter | None
    crowd: int | None


def parse_parameters(
    name: str, given: Parameters, honest_share: float = 1.0, *, for_epsilon: float | None = None
) -> ParsedParameters:
    """Return the record of protocol ``name`` with the given parameters.

    Parameters
    ----------
    name : str
        Name of the protocol.
    given : Parameters
        Parameters that the user gave.
    honest_share : float
        Share of people and of their fakes that are honest.
    for_epsilon : float, optional
        The epsilon for which a parameter that was left out is to be found.

    Raises
    ------
    ParameterError
        If the protocol or a parameter is unknown, or one is missing, contradictory or out of range.
    """
    kind = mechanism_of(name)
    own = DIVERGENCES[kind]
    sought = None if for_epsilon is None else find_sought_parameter(kind, name, given)
    left_out = set() if sought is None else {sought.name}
    whole = check_parameters(kind, name, given, left_out)
    takes = kind.PROTOCOLS[name]
    fraction = check_fraction(honest_share)
    counted = own.counts_people(name, whole)
    if fraction < 1.0 and not counted and "fakes" not in takes.required:
        raise ParameterError(
            "--honest-share",
            expected="a protocol that counts on people's fakes or flips",
            got=name,
            do="leave it out: the noise of this protocol does not come from other people",
        )
    fakes, crowd = whole.get("fakes") or 0, whole.get("users") or 0 if counted else 0
    arriving = CountedParameters(
        whole, count_arriving(fakes, fraction), count_arriving(crowd, fraction), for_epsilon
    )
    return ParsedParameters(
        Record(*own.record_fields(name, arriving)),
        Record(*own.record_fields(name, CountedParameters(whole, fakes, crowd, for_epsilon))),
        None if sought is None else sought.sought,
        arriving.crowd if counted else None,
    )


def parameter_table(*, claimed: bool = False) -> tuple[ParameterSpec, ...]:
    """Return every parameter that some protocol accepts, each name once.

    Parameters
    ----------
    claimed : bool
        Whether the parameters describe a claim to be attacked; otherwise, a mechanism to be priced.

    Returns
    -------
    tuple of ParameterSpec
        In the order of the mechanisms. If mechanisms describe a parameter differently, it has all
        their texts and no range.

    Raises
    ------
    TypeError
        If two parameters have one name and different types.
    """
    found: dict[str, ParameterSpec] = {}
    for kind in mechanisms():
        takes = [
            one.claim_names if claimed else one.pricing_names for one in kind.PROTOCOLS.values()
        ]
        for one in kind.PARAMETERS:
            if not any(one.name in names for names in takes):
                continue
            known = found.setdefault(one.name, one)
            if (known.kind, known.default) != (one.kind, one.default):
                raise TypeError(f"{one.name}: two mechanisms have parameters of this name")
            if known.help != one.help:
                text = f"{known.help} {one.help}".removesuffix(".")
                found[one.name] = replace(known, text=text, low=None, high=None)
    return tuple(found.values())


def find_sought_parameter(kind: type[Mechanism], name: str, given: Parameters) -> ParameterSpec:
    """Return the parameter of protocol ``name`` that was left out because it is to be found.

    Raises ParameterError if none was left out.
    """
    specs, sought = {one.name: one for one in kind.PARAMETERS}, kind.PROTOCOLS[name].sought
    for field in sought:
        if given.get(field) is None:
            return specs[field]
    flags, is_single = format_flags(sought, kind.PARAMETERS), len(sought) == 1
    raise ParameterError(
        name,
        expected=f"no value for {'' if is_single else 'one of '}{flags}, because it is computed",
        got="a value" if is_single else "a value for each",
        do=f"leave {'it' if is_single else 'one'} out, or use `mixtally check delta` for delta",
    )


def check_parameters(
    kind: type[Mechanism], name: str, given: Parameters, left_out: set[str] | None = None
) -> Parameters:
    """Validate the parameters of protocol ``name`` and fill in defaults.

    Parameters
    ----------
    kind : type of Mechanism
        The class of the protocol's mechanism.
    name : str
        Name of the protocol.
    given : Parameters
        Parameters that the user gave.
    left_out : set of str, optional
        Names of parameters that are to be found. If there are any, the parameters that the search
        chooses itself (``rules.chosen``) may be missing, too.

    Returns
    -------
    whole : Parameters
        A value for every parameter of the class.

    Raises
    ------
    ParameterError
        If a parameter is missing, not accepted, contradictory or out of range.
    """
    rules, specs = kind.PROTOCOLS[name], kind.PARAMETERS
    chosen = {one for one in rules.chosen if given.get(one) is None}
    may_lack = left_out | chosen if left_out else set[str]()
    required, may = _required_names(rules, given) - may_lack, rules.optional | may_lack
    names = given.list_given_names()
    check_names_given(name, names, required, may, specs)
    for one in specs:
        if one.name in names:
            one.check(given.get(one.name), given)
    _check_together(name, rules, given)
    return given.with_defaults(specs)


def _required_names(rules: ParameterRules, given: Parameters) -> frozenset[str]:
    """Return the names of the parameters that must be given.

    ``rules.instead`` lists pairs of a required parameter and one that may replace it.
    """
    required = rules.required
    for one, other in rules.instead:
        if one in required and given.get(other) is not None:
            required = required - {one} | {other}
    return required


def _check_together(name: str, rules: ParameterRules, given: Parameters) -> None:
    for flag, value in (("bins", given.get("bins")), ("max-set", given.get("max_set"))):
        if given.get("bits") is not None and value is not None:
            raise not_together(
                name,
                "--bits",
                [f"--{flag}"],
                "use --bins for one value or a set of values, or --bits for free bits",
            )
    if given.get("background") is not None and given.get("bits") is None:
        raise ParameterError(
            name,
            expected="--background with --bits",
            got="--background alone",
            do="leave it out: the guarantee of other records is for any crowd",
        )
    if given.get("count_crowd") and given.get("users") is None:
        raise ParameterError(
            name,
            expected="--count-crowd with --users",
            got="--count-crowd alone",
            do="say how many honest people take part",
        )
    if (given.get("max_set") or 1) > 1 and not given.get("split") and not rules.sets:
        raise ParameterError(
            name,
            expected="one set bit a message",
            got=f"--max-set {given.get('max_set')}",
            do="add --split: every attribute travels as a message of its own",
        )

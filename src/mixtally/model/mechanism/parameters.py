"""Parameters of mechanisms: names, types, ranges, help texts and values.

Every mechanism's class has a table of its parameters (``PARAMETERS``). For each of its protocols it
states which parameters are required, optional or searched for (``PROTOCOLS``). Options of commands,
keywords of Python functions, claims to attack, limits and help texts are generated from these
tables. Parameters that several mechanisms share are declared here.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from mixtally.device.contract.part import MOST_REPEATS as MOST_REPEATS
from mixtally.device.contract.shape import MOST_SHIFT
from mixtally.errors import ParameterError, join_words
from mixtally.model.guarantee import MOST_USERS, Observer
from mixtally.model.mechanism.fakes import MOST_FAKES
from mixtally.model.question import MOST_BINS, MOST_SET
from mixtally.primitives.fixed_point import LEAST_THRESHOLD, MOST_THRESHOLD, SCALE


@dataclass(frozen=True, slots=True)
class Parameter:
    """An integer of a mechanism that a calibration may find.

    Attributes
    ----------
    text : str
        The name in words.
    low, high : int
        The range that a calibration searches.
    denominator : int
        2^64 if the integer is a probability times 2^64; 1 if it is a plain number.
    field : str
        The name of the mechanism's field that stores the integer. Empty if the class of the
        mechanism overrides ``with_parameter`` and ``parameter_value``.
    """

    text: str
    low: int
    high: int
    denominator: int = 1
    field: str = ""

    FLIP: ClassVar["Parameter"]
    FAKES: ClassVar["Parameter"]
    SHIFT: ClassVar["Parameter"]
    REPLACED: ClassVar["Parameter"]

    def __str__(self) -> str:
        return self.text

    def to_public_value(self, value: int) -> float:
        """Return ``value`` as users write it: divided by the denominator."""
        return value if self.denominator == 1 else value / self.denominator


Parameter.FLIP = Parameter(
    "flip probability",
    LEAST_THRESHOLD,
    # Slightly below 1/2, where a message carries no information and the error is infinite.
    MOST_THRESHOLD - (MOST_THRESHOLD >> 20),
    SCALE,
    "threshold",
)
Parameter.FAKES = Parameter("fakes", 0, MOST_FAKES)
Parameter.SHIFT = Parameter("shape shift", 1, MOST_SHIFT)
Parameter.REPLACED = Parameter(
    "replacement chance", LEAST_THRESHOLD, SCALE - LEAST_THRESHOLD, SCALE, "replaced"
)


@dataclass(frozen=True, slots=True)
class ParameterSpec:
    """One parameter of a mechanism, as users give it.

    Attributes
    ----------
    name : str
        The keyword in Python; the option has hyphens in place of underscores.
    text : str
        The help text, without the range and without a period.
    kind : type
        ``int``, ``float``, ``str``, or ``bool`` for a switch.
    low : float or None
        The minimum; None if there is no range.
    high : float or str or None
        The maximum, or the name of another parameter that must be larger.
    metavar : str
        The placeholder of the value in help texts.
    choices : tuple of str
        The permitted texts; empty if any text is permitted.
    default : object
        The value if the parameter is not given: None, or False for a switch.
    sought : Parameter or None
        The integer that a calibration finds; None for a parameter that is always given.
    """

    name: str
    text: str
    kind: type = int
    low: float | None = None
    high: float | str | None = None
    metavar: str = "N"
    choices: tuple[str, ...] = ()
    default: Any = None
    sought: Parameter | None = None

    @property
    def flag(self) -> str:
        """The command-line option."""
        return "--" + self.name.replace("_", "-")

    @property
    def help(self) -> str:
        """The help text with the range, as a sentence."""
        if isinstance(self.high, str):
            return f"{self.text}, below --{self.high.replace('_', '-')}."
        if self.low is None or self.high is None:
            return f"{self.text}."
        return f"{self.text}, {_format_limit(self.low)} to {_format_limit(self.high)}."

    def check(self, value: Any, others: "Parameters") -> None:
        """Raise ParameterError for a value that is outside the range or not a choice."""
        if self.choices and value not in self.choices:
            raise ParameterError(
                self.name.replace("_", " "),
                expected=" or ".join(self.choices),
                got=repr(value),
                do="choose one of these, or leave the option out",
            )
        if self.low is None or self.high is None:
            return
        high = self.high
        # A limit that is another parameter is exclusive. Without its value there is no limit.
        if isinstance(high, str):
            below = others.get(high)
            high = math.inf if below is None else below - 1 if self.kind is int else below
        if self.low <= value <= high:
            return
        if self.kind is int:
            expected, got = f"an integer in [{self.low:,}, {high:,}]", f"{value:,}"
        else:
            expected, got = f"a number in [{_format_limit(self.low)}, {_format_limit(high)}]", value
        raise ParameterError(
            self.name.replace("_", " ") if self.sought is None else self.sought.text,
            expected=expected,
            got=got,
            do="choose one in this range",
        )


class ParameterRules(NamedTuple):
    """Which parameters a protocol accepts, by name.

    Attributes
    ----------
    required, optional : frozenset of str
        Parameters that must be given, and parameters that may be.
    sought : tuple of str
        Parameters that a calibration may find. If several are missing, it finds the first.
    instead : tuple of pairs
        Pairs (name, other): the parameter ``other`` may be given in place of the required parameter
        ``name``.
    chosen : frozenset of str
        Parameters that a calibration chooses in addition to the one that it finds.
    sets : bool
        Whether a record of several bins is protected as a whole, without ``split``.
    claim : pair of frozensets or None
        A claim is a protocol with parameters and a stated epsilon and delta, which attacks test.
        The first set has the parameters that a claim must have, and the second those that it may
        have. None for a protocol that cannot be part of a plan, for which there are no attacks.
    """

    required: frozenset[str]
    optional: frozenset[str] = frozenset()
    sought: tuple[str, ...] = ()
    instead: tuple[tuple[str, str], ...] = ()
    chosen: frozenset[str] = frozenset()
    sets: bool = False
    claim: tuple[frozenset[str], frozenset[str]] | None = None

    @property
    def pricing_names(self) -> frozenset[str]:
        """All parameters that may be given to compute a delta."""
        return self.required | self.optional | {other for _, other in self.instead}

    @property
    def claim_names(self) -> frozenset[str]:
        """All parameters that a claim may have."""
        if self.claim is None:
            return frozenset()
        required, optional = self.claim
        return required | optional | {other for one, other in self.instead if one in required}


def parse_rules(
    required: str,
    optional: str = "",
    *,
    sought: str = "",
    instead: tuple[tuple[str, str], ...] = (),
    chosen: str = "",
    sets: bool = False,
    claim: str | None = None,
) -> ParameterRules:
    """Return the rules of a protocol, from strings of names separated by spaces.

    In ``claim``, names in brackets are optional.
    """
    claimed = None if claim is None else claim.split()
    return ParameterRules(
        frozenset(required.split()),
        frozenset(optional.split()),
        tuple(sought.split()),
        instead,
        frozenset(chosen.split()),
        sets,
        None
        if claimed is None
        else (
            frozenset(one for one in claimed if not one.startswith("[")),
            frozenset(one.strip("[]") for one in claimed if one.startswith("[")),
        ),
    )


class Parameters:
    """The values of parameters, as attributes; None for a parameter that was not given."""

    __slots__ = ("_values",)

    def __init__(self, **values: Any) -> None:
        self._values = values

    def __getattr__(self, name: str) -> Any:
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(f"no parameter {name}") from None

    def get(self, name: str) -> Any:
        """Return the value of the parameter ``name``, or None if there is no such parameter."""
        return self._values.get(name)

    def with_values(self, **values: Any) -> "Parameters":
        """Return these parameters with the given values in place of the old ones."""
        return Parameters(**{**self._values, **values})

    def with_defaults(self, table: Iterable[ParameterSpec]) -> "Parameters":
        """Return the parameters of a mechanism's ``table``, with defaults for missing values."""
        return Parameters(
            **{
                one.name: one.default if self.get(one.name) is None else self.get(one.name)
                for one in table
            }
        )

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the parameters that were given a value other than the default."""
        usual = Observer.MESSAGES
        return (
            name
            for name, value in self._values.items()
            if not (value is None or value is False or value == usual)
        )

    def list_given_names(self) -> set[str]:
        """Return the names of the parameters that were given a value other than the default."""
        return set(self)

    def messages_per_record(self) -> int:
        """Return the number of messages of a record.

        If every value is a message of its own (``split``), the result is ``max_set``, the maximum
        number of values of a record. Otherwise it is 1.
        """
        return (self.get("max_set") or 1) if self.get("split") else 1


def format_flags(names: Iterable[str], table: Iterable[ParameterSpec]) -> str:
    """Return the command-line options of parameters as one text, in the order of a table.

    Parameters
    ----------
    names : iterable of str
        The names of the parameters. Names that are not in the table come last.
    table : iterable of ParameterSpec
        The specifications of the parameters, which determine the order.
    """
    rest = list(names)
    order = [one.name for one in table if one.name in rest]
    order += sorted(set(rest) - set(order))
    return join_words(["--" + name.replace("_", "-") for name in order])


def check_names_given(
    protocol: str,
    given: Collection[str],
    required: Collection[str],
    optional: Collection[str],
    table: Iterable[ParameterSpec],
) -> None:
    """Raise ParameterError for a missing required parameter, or one that is not accepted.

    Parameters
    ----------
    protocol : str
        The name of the protocol, for the message.
    given : Collection of str
        The names of the given parameters.
    required : Collection of str
        The names that must be given.
    optional : Collection of str
        The names that may be given.
    table : iterable of ParameterSpec
        The specifications, which give the order in the message.
    """
    table = list(table)
    missing, extra = (
        format_flags(names, table)
        for names in (set(required) - set(given), set(given) - set(required) - set(optional))
    )
    if not missing and not extra:
        return
    advice = [f"add {missing}"] * bool(missing) + [f"leave {extra} out"] * bool(extra)
    if optional:
        verb = "is" if len(optional) == 1 else "are"
        advice.append(f"{format_flags(optional, table)} {verb} optional")
    raise ParameterError(
        protocol,
        expected=format_flags(required, table) or "no parameters",
        got=format_flags(given, table) or "none",
        do="; ".join(advice),
    )


def describe_required_options(
    protocols: Mapping[str, ParameterRules], table: Iterable[ParameterSpec]
) -> list[str]:
    """Return, for each protocol, a phrase that lists the options it requires.

    Parameters
    ----------
    protocols : mapping of str to ParameterRules
        The rules of each protocol, by name.
    table : iterable of ParameterSpec
        The specifications of the parameters.
    """
    specs, found = list(table), []
    for name, rules in protocols.items():
        other = {one: f" or --{more.replace('_', '-')}" for one, more in rules.instead}
        flags = [one.flag + other.get(one.name, "") for one in specs if one.name in rules.required]
        found.append(f"{name} {', '.join(flags)}")
    return found


def _format_limit(value: float) -> str:
    """Return a limit in readable form: 10^7, 2^-40 or 1/2."""
    if value >= 10**5 and (power := round(math.log10(value))) and value == 10**power:
        return f"10^{power}"
    if 0.0 < value < 1e-3 and value == 2.0 ** round(math.log2(value)):
        return f"2^{round(math.log2(value))}"
    if value == 0.5:
        return "1/2"
    return f"{value:,}" if isinstance(value, int) else f"{value:g}".replace("e-0", "e-")


USERS = ParameterSpec("users", "People who take part", low=2, high=MOST_USERS)
FAKES = ParameterSpec(
    "fakes",
    "Fakes guaranteed in the whole collection",
    low=0,
    high=MOST_FAKES,
    sought=Parameter.FAKES,
)
BINS = ParameterSpec("bins", "Possible answers", low=2, high=MOST_BINS)
SET_SIZE = ParameterSpec("max_set", "Maximum bits that one record sets", low=1, high=MOST_SET)
SLOTS = ParameterSpec(
    "slots", "Slots of a record that are sent, drawn anew each time", low=1, high="max_set"
)
REPEATS = ParameterSpec("repeats", "Times every record is sent", low=1, high=MOST_REPEATS)
SPLIT = ParameterSpec(
    "split", "Every bit or attribute is a message of its own", kind=bool, default=False
)
COUNT_CROWD = ParameterSpec(
    "count_crowd",
    "Also use the privacy blanket of other people's flips; flip and single-bit always do",
    kind=bool,
    default=False,
)

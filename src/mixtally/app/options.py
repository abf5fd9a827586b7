"""Declaration of options: fields of a request, annotated with a name and a help text.

The command line derives its options from these fields, and Python its keyword arguments.
"""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from inspect import Parameter
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Protocol,
    TypeVar,
    get_args,
    get_type_hints,
)

from mixtally.errors import ParameterError, not_one_of

if TYPE_CHECKING:  # a device that has options starts without mechanisms
    from mixtally.model.guarantee import Guarantee
    from mixtally.model.mechanism.parameters import ParameterSpec

T = TypeVar("T")
HopNumbers = frozenset[int]
"""Positions of mixes in a row, from 1."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a command.

    Attributes
    ----------
    default : str
        The first name of the option, such as ``--top``. It is not a default value.
    text : str
        The help text, a sentence.
    metavar : str or None
        Placeholder for the value in help texts; None for a file, and for a switch.
    whole : bool
        Whether the value is a whole number, in any common notation.
    """

    default: str
    text: str
    metavar: str | None = None
    whole: bool = False


def option(name: str, text: str, metavar: str | None = None) -> Option:
    """Return an option for a text, a number or a file, or a switch.

    Parameters
    ----------
    name : str
        The name on the command line, with its hyphens.
    text : str
        The help text, one sentence.
    metavar : str or None
        The placeholder of the value in help texts. None for a switch, which has no value, or to use
        the default placeholder of the value's type.
    """
    return Option(name, text, metavar)


def whole_option(name: str, text: str) -> Option:
    """Return an option for a whole number, with the placeholder N.

    Parameters
    ----------
    name : str
        The name on the command line, with its hyphens.
    text : str
        The help text, one sentence.
    """
    return Option(name, text, "N", whole=True)


MixFakes = Annotated[bool, option("--mix-fakes", "Trust a mix to draw the fakes.")]
CountCrowd = Annotated[
    bool,
    option(
        "--count-crowd",
        "Also rely on the flips of other people (privacy blanket); flip and single-bit always do.",
    ),
]
Flip = Annotated[float | None, option("--flip", "Flip probability, 2^-40 to 1/2.", "Q")]
Bins = Annotated[int | None, whole_option("--bins", "Possible answers, 2 to 10^7.")]
Bits = Annotated[int | None, whole_option("--bits", "Bits of a vector, 1 to 64.")]
Points = Annotated[
    int | None,
    whole_option("--points", "Points to round numbers to, 2 to 10^6 (default: best for the mean)."),
]
HonestShare = Annotated[
    float,
    option(
        "--honest-share",
        "Honest share of the fakes, and of the people on whom the guarantee relies: above 0, "
        "up to 1.",
        "H",
    ),
]

Seed = Annotated[int | None, option("--seed", "Repeatable randomness for experiments.", "N")]
Level = Annotated[
    float, option("--level", "Confidence level of the intervals, between 0 and 1.", "L")
]
CountsOnly = Annotated[
    bool, option("--counts-only", "Draw the tally instead of messages: same distribution, faster.")
]
Epsilon = Annotated[float, option("--epsilon", "Epsilon of the guarantee, 0.01 to 20.", "E")]
Delta = Annotated[float, option("--delta", "Delta of the guarantee, 1e-15 to 0.1.", "D")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """The privacy guarantee of a request."""

    epsilon: Epsilon
    delta: Delta

    def guarantee(self) -> "Guarantee":
        """Return the guarantee; raise ParameterError for numbers out of range."""
        from mixtally.model.guarantee import Guarantee  # a device needs none

        return Guarantee(epsilon=self.epsilon, delta=self.delta)


@dataclass(frozen=True, slots=True, kw_only=True)
class MaybePromise:
    """A privacy guarantee that may be left out."""

    epsilon: Annotated[
        float | None, option("--epsilon", "Epsilon of the guarantee, 0.01 to 20.", "E")
    ] = None
    delta: Annotated[
        float | None, option("--delta", "Delta of the guarantee, 1e-15 to 0.1.", "D")
    ] = None

    def guarantee(self) -> "Guarantee":
        """Return the guarantee; raise ParameterError if epsilon or delta is missing."""
        epsilon, delta = self.epsilon, self.delta
        if epsilon is None or delta is None:
            given = "--delta" if epsilon is None else "--epsilon"
            missing = ["--epsilon 1"] * (epsilon is None) + ["--delta 1e-6"] * (delta is None)
            raise ParameterError(
                "guarantee",
                expected="both --epsilon and --delta, or a plan",
                got="neither" if epsilon is delta else f"{given} alone",
                do=f"add {' and '.join(missing)}, for example",
            )
        from mixtally.model.guarantee import Guarantee

        return Guarantee(epsilon=epsilon, delta=delta)


def check_one_of(subject: str, got: str, names: Sequence[str]) -> str:
    """Return a text if it is one of ``names``; raise ParameterError otherwise.

    Parameters
    ----------
    subject : str
        The name of the option in the message.
    got : str
        The value of the option.
    names : sequence of str
        The values that the option may have.
    """
    if got not in names:
        raise not_one_of(subject, got, names)
    return got


class TableGroup:
    """A group of options that are declared in a table of parameters, not as fields.

    The attribute ``given`` has the values that differ from their defaults, by name.
    """

    TABLE: ClassVar[tuple["ParameterSpec", ...]] = ()

    def __init__(self, **given: Any) -> None:
        self.given = {
            one.name: given[one.name]
            for one in self.TABLE
            if given.get(one.name) is not None and given[one.name] != one.default
        }

    @classmethod
    def options(cls, *, extras: bool) -> list[Parameter]:
        """Return the options as parameters of a signature.

        With ``extras``, their annotations include the names and help texts of the options.
        """
        found = []
        for one in cls.TABLE:
            kind: Any = one.kind if one.default is not None else one.kind | None
            metavar = None if one.kind is bool else one.metavar
            declared = Option(one.flag, one.help, metavar, whole=one.kind is int)
            found.append(
                Parameter(
                    one.name,
                    Parameter.KEYWORD_ONLY,
                    default=one.default,
                    annotation=Annotated[kind, declared] if extras else kind,
                )
            )
        return found


def is_group(kind: Any) -> bool:
    """Return whether a field of this type is itself a group of options."""
    return is_dataclass(kind) or (isinstance(kind, type) and issubclass(kind, TableGroup))


class Group(Protocol):
    """A dataclass in which each field is annotated with an option, or is itself a group."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


def parameters_of(kind: Any, *, extras: bool) -> list[Parameter]:
    """Return the options of a group and of the groups inside it, in order.

    Parameters
    ----------
    kind : object
        The class of the group.
    extras : bool
        Whether the annotations of the parameters include the declarations of the options.
    """
    found: list[Parameter] = []
    if issubclass(kind, TableGroup):
        found += kind.options(extras=extras)
        return found
    hints = get_type_hints(kind, include_extras=extras)
    for field in fields(kind):
        hint = hints[field.name]
        if is_group(hint):
            found += parameters_of(hint, extras=extras)
        else:
            usual = Parameter.empty if field.default is MISSING else field.default
            found.append(
                Parameter(field.name, Parameter.KEYWORD_ONLY, default=usual, annotation=hint)
            )
    return found


def build_options(kind: type[T], given: Mapping[str, Any]) -> T:
    """Return a group of options, and the groups inside it, from values by name.

    Parameters
    ----------
    kind : type
        The class of the group.
    given : mapping of str to object
        Values by name; missing values get their defaults.
    """
    if issubclass(kind, TableGroup):
        return kind(**given)
    hints, found = get_type_hints(kind), dict[str, Any]()
    for name, hint in ((one.name, hints[one.name]) for one in fields(kind)):  # type: ignore[arg-type]
        if is_group(hint):
            found[name] = build_options(hint, given)
        elif name in given:
            found[name] = given[name]
    return kind(**found)


def option_values(group: Group | TableGroup) -> dict[str, Any]:
    """Return a dict from the name of each field of a group to the value of the option, in order.

    For a ``TableGroup``, only values that differ from their defaults are returned.
    """
    if isinstance(group, TableGroup):
        return dict(group.given)
    found: dict[str, Any] = {}
    for field in fields(group):
        value: Any = getattr(group, field.name)
        group_inside = is_group(type(value))
        found |= option_values(value) if group_inside else {field.name: value}
    return found


def list_used_flags(group: Group | TableGroup, *names: str) -> list[str]:
    """Return the flags of the options of a group whose values differ from their defaults.

    If there are ``names``, only these fields of the group are considered.
    """
    if isinstance(group, TableGroup):
        return [one.flag for one in group.TABLE if one.name in group.given]
    kinds = get_type_hints(type(group), include_extras=True)
    usual = {field.name: field.default for field in fields(group)}
    found = []
    for name in names or usual:
        value = getattr(group, name)
        if is_group(kinds[name]):
            found += list_used_flags(value)
        elif value != usual[name]:
            _, option = get_args(kinds[name])
            found.append(option.default)  # the first name of the option
    return found

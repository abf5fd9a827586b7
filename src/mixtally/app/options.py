"""An option as it is declared: a field of a request, annotated with its name and what it says.

The command line makes options of these fields, Python makes keyword arguments of them.
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
"""Places of mixes in their row, from 1."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a command.

    where
      default   its first name, ``--top``: named as parsers name it
      text      what it says, in a sentence
      metavar   what stands for its value; None for a file's, or for what is on or off
      whole     whether it takes a whole number, in any of the ways people write one
    """

    default: str
    text: str
    metavar: str | None = None
    whole: bool = False


def option(name: str, text: str, metavar: str | None = None) -> Option:
    """An option for text, a number or a file; without ``metavar`` a file's, or that it is on."""
    return Option(name, text, metavar)


def whole_option(name: str, text: str) -> Option:
    """An option for a whole number."""
    return Option(name, text, "N", whole=True)


MixFakes = Annotated[bool, option("--mix-fakes", "A mix may be trusted to draw the fakes.")]
CountCrowd = Annotated[
    bool,
    option(
        "--count-crowd",
        "Also use the privacy blanket of other people's flips; flip and single-bit always do.",
    ),
]
Flip = Annotated[float | None, option("--flip", "Flip probability, 2^-40 to 1/2.", "Q")]
Bins = Annotated[int | None, whole_option("--bins", "Possible answers, 2 to 10^7.")]
Bits = Annotated[int | None, whole_option("--bits", "Bits of a free vector, 1 to 64.")]
Points = Annotated[
    int | None,
    whole_option("--points", "Points numbers are rounded to, 2 to 10^6; the best for a mean."),
]
HonestShare = Annotated[
    float,
    option(
        "--honest-share",
        "Honest share of the promised fakes, and of the people who are counted on: above 0, "
        "up to 1.",
        "H",
    ),
]

Seed = Annotated[int | None, option("--seed", "Repeatable randomness for experiments.", "N")]
Level = Annotated[
    float, option("--level", "Confidence level of the intervals, between 0 and 1.", "L")
]
CountsOnly = Annotated[
    bool, option("--counts-only", "Draw the tally, not the messages: as likely, and far sooner.")
]
Epsilon = Annotated[float, option("--epsilon", "Privacy loss, 0.01 to 20.", "E")]
Delta = Annotated[float, option("--delta", "delta of the guarantee, 1e-15 to 0.1.", "D")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """What everybody is promised."""

    epsilon: Epsilon
    delta: Delta

    def guarantee(self) -> "Guarantee":
        """Return the guarantee; raise ParameterError for numbers out of range."""
        from mixtally.model.guarantee import Guarantee  # a device needs none

        return Guarantee(epsilon=self.epsilon, delta=self.delta)


@dataclass(frozen=True, slots=True, kw_only=True)
class MaybePromise:
    """A promise that may be left out."""

    epsilon: Annotated[float | None, option("--epsilon", "Privacy loss, 0.01 to 20.", "E")] = None
    delta: Annotated[
        float | None, option("--delta", "delta of the guarantee, 1e-15 to 0.1.", "D")
    ] = None

    def guarantee(self) -> "Guarantee":
        """Return the guarantee that is asked for; raise ParameterError for half of one."""
        epsilon, delta = self.epsilon, self.delta
        if epsilon is None or delta is None:
            raise ParameterError(
                "guarantee",
                expected="--epsilon and --delta, or --plan",
                got="neither" if epsilon is None and delta is None else "one of them",
                do="add --epsilon 1 --delta 1e-6, for example",
            )
        from mixtally.model.guarantee import Guarantee

        return Guarantee(epsilon=epsilon, delta=delta)


def check_one_of(subject: str, got: str, names: Sequence[str]) -> str:
    """``got`` itself; raises ParameterError unless it is one of ``names``."""
    if got not in names:
        raise not_one_of(subject, got, names)
    return got


class TableGroup:
    """Options that come from a table, not from fields: the values that were given, by name."""

    TABLE: ClassVar[tuple["ParameterSpec", ...]] = ()

    def __init__(self, **given: Any) -> None:
        self.given = {
            one.name: given[one.name]
            for one in self.TABLE
            if given.get(one.name) is not None and given[one.name] != one.default
        }

    @classmethod
    def options(cls, *, extras: bool) -> list[Parameter]:
        """Return the options as parameters of a call; ``extras`` keeps what help says of them."""
        return [
            Parameter(
                one.name,
                Parameter.KEYWORD_ONLY,
                default=one.default,
                annotation=Annotated[_annotation_of(one), option_of(one)]
                if extras
                else _annotation_of(one),
            )
            for one in cls.TABLE
        ]


def option_of(spec: "ParameterSpec") -> Option:
    """Return the option of a mechanism's parameter."""
    metavar = None if spec.kind is bool else spec.metavar
    return Option(spec.flag, spec.help, metavar, whole=spec.kind is int)


def _annotation_of(spec: "ParameterSpec") -> Any:
    return spec.kind if spec.default is not None else spec.kind | None


def is_group(kind: Any) -> bool:
    """Return whether a field of this type has options of its own."""
    return is_dataclass(kind) or (isinstance(kind, type) and issubclass(kind, TableGroup))


class Group(Protocol):
    """A dataclass whose fields are annotated with the options they come from, or are groups."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


def parameters_of(kind: Any, *, extras: bool) -> list[Parameter]:
    """The options of a group's class, and of those inside it, in their order.

    ``extras`` keeps what their types are annotated with.
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
    """A group, and those inside it, of what was given by name; others are as usual."""
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
    """What every option of ``group`` came to, by the name of its field, in the order of options.

    Of a table only what was given.
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
    """The options of ``group``, or those of ``names``, that were set to something unusual."""
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
            found.append(option.default)  # where an annotation has the first name of an option
    return found

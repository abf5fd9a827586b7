"""An option as it is declared: a field of a request, annotated with its name and what it says.

The command line makes options of these fields, Python makes keyword arguments of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from inspect import Parameter
from typing import Annotated, Any, ClassVar, Protocol, TypeVar, get_args, get_type_hints

from mixtally.errors import not_one_of

T = TypeVar("T")


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
HonestShare = Annotated[
    float,
    option(
        "--honest-share",
        "Honest share of the promised fakes, and of the people who are counted on: above 0, "
        "up to 1.",
        "H",
    ),
]


def one_of(subject: str, got: str, names: Sequence[str]) -> str:
    """``got`` itself; raises ParameterError unless it is one of ``names``."""
    if got not in names:
        raise not_one_of(subject, got, names)
    return got


class Group(Protocol):
    """A dataclass whose fields are annotated with the options they come from, or are groups."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


def parameters_of(kind: Any, *, extras: bool) -> list[Parameter]:
    """The options of a group's class, and of those inside it, in their order.

    ``extras`` keeps what their types are annotated with.
    """
    hints, found = get_type_hints(kind, include_extras=extras), list[Parameter]()
    for field in fields(kind):
        hint = hints[field.name]
        if is_dataclass(hint):
            found += parameters_of(hint, extras=extras)
        else:
            usual = Parameter.empty if field.default is MISSING else field.default
            found.append(
                Parameter(field.name, Parameter.KEYWORD_ONLY, default=usual, annotation=hint)
            )
    return found


def made(kind: type[T], given: Mapping[str, Any]) -> T:
    """A group, and those inside it, of what was given by name; others are as usual."""
    hints, found = get_type_hints(kind), dict[str, Any]()
    for name, hint in ((one.name, hints[one.name]) for one in fields(kind)):  # type: ignore[arg-type]
        if is_dataclass(hint):
            found[name] = made(hint, given)  # type: ignore[arg-type]
        elif name in given:
            found[name] = given[name]
    return kind(**found)


def values(group: Group) -> dict[str, Any]:
    """What every option of ``group`` came to, by the name of its field, in the order of options."""
    found: dict[str, Any] = {}
    for field in fields(group):
        value: Any = getattr(group, field.name)
        group_inside = is_dataclass(value) and not isinstance(value, type)
        found |= values(value) if group_inside else {field.name: value}
    return found


def flags(group: Group, *names: str) -> list[str]:
    """The options of ``group``, or those of ``names``, that were set to something unusual."""
    kinds = get_type_hints(type(group), include_extras=True)
    usual = {field.name: field.default for field in fields(group)}
    found = []
    for name in names or usual:
        value = getattr(group, name)
        if is_dataclass(kinds[name]):
            found += flags(value)
        elif value != usual[name]:
            _, option = get_args(kinds[name])
            found.append(option.default)  # where an annotation has the first name of an option
    return found

"""An option as it is declared: a field of a request, annotated with its name and what it says.

The command line makes options of these fields, Python makes keyword arguments of them.
"""

from dataclasses import dataclass
from typing import Annotated


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
HonestFraction = Annotated[
    float,
    option(
        "--honest-fraction",
        "Honest share of the promised fakes, and of the people who are counted on: above 0, "
        "up to 1.",
        "H",
    ),
]

"""How a number or a word becomes a bin: options of ``mixtally plan``, declared once."""

from dataclasses import dataclass
from typing import Annotated

from mixtally.app.options import flags
from mixtally.cli import options as o
from mixtally.cli.question import QuestionOptions, question_of
from mixtally.encode.numbers import Range, Scale
from mixtally.encode.spelling import Spelling
from mixtally.errors import ParameterError
from mixtally.records.contract import Prefixes
from mixtally.records.question import Question


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderOptions:
    """Numbers that are rounded or cut into --bins, or words that are asked by their prefixes."""

    number: Annotated[
        str | None,
        o.option("--number", "Numbers, moved into this range and rounded at random.", "LOW,HIGH"),
    ] = None
    points: o.Points = None
    prefixes: Annotated[
        int | None,
        o.whole_option("--prefixes", "Words, asked by what follows up to so many prefixes."),
    ] = None
    longest: Annotated[
        int | None,
        o.whole_option(
            "--longest", "Most characters of a word, each of the alphabet (default 10)."
        ),
    ] = None
    alphabet: Annotated[
        str | None,
        o.option(
            "--alphabet",
            "Characters that words are made of (default a-z A-Z 0-9, space and . - ').",
            "CHARACTERS",
        ),
    ] = None
    symbols: Annotated[
        int | None, o.whole_option("--symbols", "Symbols that a round asks for (default 1).")
    ] = None


_LONGEST = 10


How = tuple[Range | None, Prefixes | None]
"""How numbers are read, or the prefixes of words; neither for other questions."""


def asked_by(wanted: EncoderOptions, asked: QuestionOptions, seed: str) -> tuple[Question, How]:
    """The question, and how a number or a word becomes one of its bins.

    Raises ParameterError for several ways at once, or for half of one.
    """
    if wanted.points is not None and wanted.number is None:
        raise ParameterError(
            "--points", wanted="--number beside it", got="none", do="add it, or leave this out"
        )
    if wanted.prefixes is None:
        for flag in flags(wanted, "longest", "alphabet", "symbols"):
            raise ParameterError(
                flag, wanted="--prefixes beside it", got="none", do="add it, or leave this out"
            )
    if wanted.number is None and wanted.prefixes is None:
        return question_of(asked, seed), (None, None)
    others = flags(asked, "labels", "max_set", "attributes", "bits", "open_domain", "hashing")
    if wanted.prefixes is not None:  # which have as many bins as they have letters
        others += flags(asked, "bins") + flags(wanted, "number", "points")
    if others:
        raise ParameterError(
            "question", wanted="one way to ask", got=" and ".join(others), do="ask one at a time"
        )
    if wanted.number is not None:
        from mixtally.cli.reading import scale_of  # loads what reads data

        scale = scale_of(wanted.number, asked.bins, wanted.points)
        if isinstance(scale, Scale):
            named = Question(name=asked.name, bins=scale.bins, labels=scale.labels)
            return named, (scale, None)
        return Question(name=asked.name, bins=2), (scale, None)  # until its points are chosen
    longest = _LONGEST if wanted.longest is None else wanted.longest
    symbols = 1 if wanted.symbols is None else wanted.symbols
    spelling = Spelling() if wanted.alphabet is None else Spelling.of(wanted.alphabet)
    prefixes = Prefixes(
        alphabet=spelling.characters, most=wanted.prefixes or 0, longest=longest, symbols=symbols
    )
    return Question(name=asked.name, bins=prefixes.bins), (None, prefixes)

"""Questions: their options, and the question that the options describe."""

from dataclasses import dataclass
from typing import Annotated

import msgspec

from mixtally.app import options as o
from mixtally.app.options import Bins, Bits, Points
from mixtally.errors import ParameterError, not_together, pluralize
from mixtally.model.contract import Prefixes
from mixtally.model.hashing import draw_seed
from mixtally.model.question import Kind, Question, make_attributes_question, make_open_question
from mixtally.primitives.chance import Chance, SecureChance
from mixtally.protocol.encode import numbers
from mixtally.protocol.encode.numbers import Range, Scale
from mixtally.protocol.encode.spelling import Spelling

_LONGEST = 10
"""Default number of characters of the longest word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HashingOptions:
    """The key of the hash function for texts of an open domain."""

    hash_seed: Annotated[
        str | None,
        o.option(
            "--hash-seed",
            "Key for hashing texts of an open domain, 32 hexadecimal digits (default: random).",
            "HEX",
        ),
    ] = None

    def seed(self, chance: Chance | None = None) -> str:
        """Return ``hash_seed``; if it is None, return a new key that is drawn from ``chance``.

        Without ``chance``, the key is drawn from the operating system's randomness.
        """
        given = self.hash_seed
        return given if given is not None else draw_seed(chance or SecureChance())


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionOptions:
    """The possible values of a record."""

    bins: Bins = None
    labels: Annotated[
        tuple[str, ...] | None,
        o.option("--labels", "File with all possible answers in order, one per line.", "FILE"),
    ] = None
    name: Annotated[str, o.option("--name", "Name of the question.")] = "answer"
    open_domain: Annotated[
        bool, o.option("--open", "Accept any text; the words to count are listed afterwards.")
    ] = False
    hashing: HashingOptions
    max_set: Annotated[
        int | None,
        o.whole_option("--max-set", "Most bins or texts per record, 1 to 16."),
    ] = None
    attributes: Annotated[
        tuple[int, ...] | None,
        o.option(
            "--attributes", "Bins of each of 2 to 16 attributes of a record: 10,20,5.", "D,.."
        ),
    ] = None
    bits: Bits = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderOptions:
    """Numbers that are rounded or binned, or words that are searched by their prefixes."""

    number: Annotated[
        tuple[float, float] | None,
        o.option("--number", "Numbers, clipped to this range and rounded at random.", "LOW,HIGH"),
    ] = None
    points: Points = None
    prefixes: Annotated[
        int | None,
        o.whole_option("--prefixes", "Search for words by up to N prefixes per round."),
    ] = None
    longest: Annotated[
        int | None,
        o.whole_option("--longest", "Largest number of characters of a word (default 10)."),
    ] = None
    alphabet: Annotated[
        str | None,
        o.option(
            "--alphabet",
            "Characters of words (default a-z A-Z 0-9, space and . - ').",
            "CHARACTERS",
        ),
    ] = None
    symbols: Annotated[
        int | None,
        o.whole_option("--symbols", "Characters by which a round extends prefixes (default 1)."),
    ] = None


ValueReading = tuple[Range | None, Prefixes | None]
"""The bins or points of numbers, and the prefixes of a search for words; None if not applicable."""


def build_question(
    asked: QuestionOptions, encoder: EncoderOptions
) -> tuple[Question, ValueReading]:
    """Return the question, and how numbers or words become its bins.

    Raises
    ------
    ParameterError
        Unless the options describe the possible values in exactly one way.
    """
    if encoder.points is not None and encoder.number is None:
        raise ParameterError(
            "--points", expected="--number with it", got="none", do="add it, or leave --points out"
        )
    if encoder.prefixes is None:
        for flag in o.list_used_flags(encoder, "longest", "alphabet", "symbols"):
            raise ParameterError(
                flag,
                expected="--prefixes with it",
                got="none",
                do="add it, or leave the option out",
            )
    if encoder.number is None and encoder.prefixes is None:
        return read_question(asked), (None, None)
    used = "number" if encoder.prefixes is None else "prefixes"
    others = o.list_used_flags(
        asked, "labels", "max_set", "attributes", "bits", "open_domain", "hashing"
    )
    if encoder.prefixes is not None:  # prefixes determine the number of bins
        others += o.list_used_flags(asked, "bins") + o.list_used_flags(encoder, "number", "points")
    if others:
        raise ParameterError(
            "question",
            expected="one kind of question",
            got=" and ".join([*o.list_used_flags(encoder, used), *others]),
            do="choose one",
        )
    if encoder.number is not None:
        scale = make_scale(encoder.number, asked.bins, encoder.points)
        if isinstance(scale, Scale):
            return Question(name=asked.name, bins=scale.bins, labels=scale.labels), (scale, None)
        return Question(name=asked.name, bins=2), (
            scale,
            None,
        )  # replaced when the points are chosen
    longest = _LONGEST if encoder.longest is None else encoder.longest
    symbols = 1 if encoder.symbols is None else encoder.symbols
    spelling = (
        Spelling() if encoder.alphabet is None else Spelling.from_characters(encoder.alphabet)
    )
    prefixes = Prefixes(
        alphabet=spelling.characters, most=encoder.prefixes or 0, longest=longest, symbols=symbols
    )
    return Question(name=asked.name, bins=prefixes.bins), (None, prefixes)


def read_question(options: QuestionOptions) -> Question:
    """Return the question; raise ParameterError unless exactly one option describes its values."""
    name, stated = options.name, options.bits if options.bins is None else options.bins
    labels = options.labels
    ways = o.list_used_flags(options, "bins", "attributes", "bits", "open_domain")
    if len(ways) > 1 or not (ways or labels is not None):
        raise ParameterError(
            "bins",
            expected="--bins or --labels, --attributes, --bits, or --open",
            got=" and ".join(ways) or "none",
            do="describe the possible values of a record in one way",
        )
    if labels is not None:
        _check_count(labels, stated)
    if options.max_set is not None and ways not in ([], ["--bins"], ["--open"]):
        raise ParameterError(
            "max set",
            expected="--bins, --labels or --open with it",
            got=ways[0],
            do="leave --max-set out",
        )
    if options.hashing.hash_seed is not None and not options.open_domain:
        raise ParameterError(
            "--hash-seed", expected="--open with it", got="none", do="leave it out, or add --open"
        )
    if options.open_domain:
        seed = options.hashing.seed()
        return make_open_question(name, seed, 1 if options.max_set is None else options.max_set)
    if options.bits is not None:
        return Question(name=name, bins=options.bits, labels=labels, kind=Kind.BITS)
    if options.attributes is not None:
        made = make_attributes_question(name, options.attributes)
        return made if labels is None else msgspec.structs.replace(made, labels=labels)
    bins = len(labels or ()) if options.bins is None else options.bins
    if options.max_set in (None, 1):
        return Question(name=name, bins=bins, labels=labels)
    return Question(name=name, bins=bins, labels=labels, kind=Kind.SET, max_set=options.max_set)


def _check_count(labels: tuple[str, ...], stated: int | None) -> None:
    """Raise ParameterError unless there are ``stated`` labels or, if it is None, at least two."""
    if len(labels) < 2 if stated is None else len(labels) != stated:
        raise ParameterError(
            "labels",
            expected="at least 2 labels" if stated is None else pluralize(stated, "label"),
            got=f"{len(labels):,}",
            do="write one label for each bin",
        )


def make_scale(ends: tuple[float, float], bins: int | None, points: int | None) -> Range:
    """Return the bins or the points between two ends.

    Parameters
    ----------
    ends : tuple of float
        The least and the largest number.
    bins : int or None
        The number of bins of equal width, in [2, 10^6].
    points : int or None
        The number of points, in [2, 10^6]; None lets the planner choose it.

    Returns
    -------
    Range
        A ``Scale`` if ``bins`` is not None, otherwise ``Points``.

    Raises
    ------
    ParameterError
        If neither number is None, or if a number or the range is invalid.
    """
    if bins is not None and points is not None:
        raise not_together(
            "number", "--points", ["--bins"], "use --points for a mean, --bins for a histogram"
        )
    return numbers.Points(*ends, points) if bins is None else Scale(*ends, bins)

"""The question of a contract, and how a value becomes bins."""

import math
import re
from itertools import pairwise
from typing import NamedTuple
from unicodedata import normalize

from mixtally.device.contract.fields import Fields, make_refusal, number, text, whole

MOST_BINS, MOST_BITS, MOST_SET = 10_000_000, 64, 16
MOST_POINTS = (1 << 63) - 1
"""The maximum number of points to which texts of an open domain are hashed."""
_SEED = re.compile(r"[0-9a-f]{32}")
CONTROL_CHARACTERS = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Characters that move a cursor or change colors, except tabs and line ends; characters that embed,
isolate or override a writing direction, which make one label look like another; and halves of
surrogate pairs, which no file or terminal accepts."""


class Question(NamedTuple):
    """The values that a record may have: one bin, a set of bins, or any combination of bits.

    Attributes
    ----------
    kind : str
        "one", "set" or "bits".
    max_set : int
        The maximum number of bins in a set.
    attributes : tuple of int or None
        The number of bins of each attribute.
    seed : bytes or None
        The key of the hash that maps texts of an open domain to points; each point is a bin.
    """

    name: str
    bins: int
    labels: tuple[str, ...] | None
    kind: str
    max_set: int
    attributes: tuple[int, ...] | None
    seed: bytes | None


class Prefixes(NamedTuple):
    """The rules of a question that asks which symbols follow given prefixes of words.

    ``most`` is the maximum number of prefixes in a round, ``longest`` the maximum number of symbols
    of a word that are used, and ``symbols`` the number of symbols that a round asks for.
    """

    alphabet: str
    most: int
    longest: int
    symbols: int

    @property
    def symbol_count(self) -> int:
        """The number of symbols: the end, the characters of the alphabet, and the escape."""
        return len(self.alphabet) + 2

    @property
    def extension_count(self) -> int:
        """The number of possible extensions of a prefix."""
        return int(self.symbol_count**self.symbols)


def read_question(value: object) -> Question:
    """Read the question, or raise RefusedError."""
    place = "question"
    fields = Fields(value, place, "name bins labels kind max_set attributes hashed")
    kind = fields.choice("kind", "one|set|bits", "unknown-kind")
    seed = None if fields.values["hashed"] is None else _read_seed(fields.values["hashed"])
    least, most = (
        (1, MOST_BITS) if kind == "bits" else (2, MOST_BINS if seed is None else MOST_POINTS)
    )
    bins = fields.whole("bins", least, most, "bins-out-of-range")
    largest = min(MOST_SET, bins) if kind == "set" else 1
    max_set = fields.whole("max_set", 1, largest, "max-set-out-of-range")
    attributes = _attributes(fields, kind, bins, max_set)
    labels = _labels(fields, bins)
    if seed is not None and (kind == "bits" or (labels or attributes) is not None):
        expected = "bins without labels or attributes, one a record or a set"
        raise make_refusal("hashed-with-labels", place, expected, kind)
    name = fields.text("name")
    _check_characters(name, fields.at("name"), "control-character-in-name")
    return Question(name, bins, labels, kind, max_set, attributes, seed)


def _attributes(fields: Fields, kind: str, bins: int, max_set: int) -> tuple[int, ...] | None:
    if fields.values["attributes"] is None:
        return None
    place = fields.at("attributes")
    sizes = tuple(whole(size, place) for size in fields.items("attributes"))
    if kind != "set" or sum(sizes) != bins or len(sizes) != max_set or min(sizes) < 2:
        expected = f"{max_set} attributes of a set, two bins or more each, {bins} in all"
        raise make_refusal("attributes-unfit", place, expected, sizes)
    return sizes


def _labels(fields: Fields, bins: int) -> tuple[str, ...] | None:
    if fields.values["labels"] is None:
        return None
    place = fields.at("labels")
    labels = tuple(text(label, place) for label in fields.items("labels"))
    for label in labels:
        _check_characters(label, place, "control-character-in-label")
    if "" in labels:
        raise make_refusal("label-empty", place, "labels of a character or more", "an empty one")
    if len({normalize("NFC", label) for label in labels}) < len(labels):
        raise make_refusal(
            "label-twice", place, "different labels, also in form NFC", "two equal ones"
        )
    if len(labels) != bins:
        raise make_refusal("labels-miscounted", place, f"{bins} labels, one per bin", len(labels))
    return labels


def _check_characters(value: str, place: str, reason: str) -> None:
    if CONTROL_CHARACTERS.search(value):
        raise make_refusal(reason, place, "whole characters, none that controls a screen", value)


def _read_seed(value: object) -> bytes:
    fields = Fields(value, "question.hashed", "function seed")
    fields.choice("function", "HMAC-SHA-256", "unknown-hash")
    if not _SEED.fullmatch(seed := fields.text("seed")):
        raise make_refusal("seed-malformed", fields.at("seed"), "32 hexadecimal digits", seed)
    return bytes.fromhex(seed)


def read_edges(value: object, bins: int) -> tuple[float, ...] | None:
    """Read the boundaries of ranges: bins + 1 finite ascending numbers."""
    if value is None:
        return None
    fields = Fields({"edges": value}, "plan", "edges")
    edges = tuple(number(edge, fields.at("edges")) for edge in fields.items("edges"))
    rising = all(a < b for a, b in pairwise(edges))
    if len(edges) != bins + 1 or not rising or not all(map(math.isfinite, edges)):
        raise make_refusal(
            "no-scale", "plan.edges", f"{bins + 1} finite numbers that ascend", edges
        )
    return edges


def read_prefixes(value: object, bins: int) -> Prefixes | None:
    """Read the rules of a question for words by prefixes, or raise RefusedError.

    Parameters
    ----------
    value : object
        The decoded JSON of the rules.
    bins : int
        The number of bins of the question.
    """
    if value is None:
        return None
    fields = Fields(value, "plan.prefixes", "alphabet most longest symbols")
    alphabet = fields.text("alphabet")
    if not 2 <= len(alphabet) <= 200 or len(set(alphabet)) < len(alphabet):
        expected = "2 to 200 characters, each once"
        raise make_refusal("alphabet-unfit", fields.at("alphabet"), expected, alphabet)
    most = fields.whole("most", 1, 1_000_000, "prefixes-out-of-range")
    longest = fields.whole("longest", 1, 1000, "prefixes-out-of-range")
    symbols = fields.whole("symbols", 1, 10, "prefixes-out-of-range")
    found = Prefixes(alphabet, most, longest, symbols)
    if most * found.extension_count + 1 != bins:
        expected = f"{most * found.extension_count + 1} bins for them"
        raise make_refusal("prefixes-bins", "plan.prefixes", expected, bins)
    return found

"""The terms of a collection: what is asked, how it is hidden, what that is worth."""

import math
from enum import StrEnum

import msgspec

from mixtally.errors import PlanError, in_range
from mixtally.ground.codec import as_floats
from mixtally.records.certificate import Certificate
from mixtally.records.contract.part import FakeRecord, Part
from mixtally.records.encodings import encodings
from mixtally.records.guarantee import (
    LEAST_USERS,
    Guarantee,
    Observer,
    arriving,
    checked_fraction,
    checked_users,
)
from mixtally.records.question import Kind, Question
from mixtally.records.recipe import BlanksRecipe
from mixtally.records.roles import MOST_HOPS

MOST_COLLECTIONS = 1000
MOST_PREFIXES = 1_000_000
LEAST_LETTERS, MOST_LETTERS = 2, 200


class Cover(StrEnum):
    """Who brings what hides a person."""

    MIXES = "every mix"
    """Every hop draws all of it: any one honest hop suffices."""
    PEOPLE = "people"
    """Devices do, by fakes or flips: the first honest hop must receive enough of them."""


class Prefixes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A word is asked by the symbol that follows a prefix; a round brings the prefixes.

    where
      alphabet   the characters that are spelled briefly, 2 to 200, each once
      most       the most prefixes of a round
      longest    the most symbols of a word that are looked at
    """

    alphabet: str
    most: int
    longest: int

    def __post_init__(self) -> None:
        count = len(self.alphabet)
        if not LEAST_LETTERS <= count <= MOST_LETTERS or len(set(self.alphabet)) < count:
            raise _wrong("alphabet", "2 to 200 characters, each once", f"{count}")
        if not 1 <= self.most <= MOST_PREFIXES or not 1 <= self.longest <= 1000:
            raise _wrong(
                "prefixes",
                f"at most {MOST_PREFIXES:,} of at most 1,000 symbols",
                f"{self.most:,} of {self.longest:,}",
            )

    @property
    def bins(self) -> int:
        """Every prefix with every symbol, the end and the escape, and everything else."""
        return self.most * (len(self.alphabet) + 2) + 1


class Terms(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a contract promises, whoever runs it.

    where
      question        the whole question; its labels, attributes or hash turn a value into bins
      edges           where numbers are cut into bins, ascending, bins + 1 of them; None without
      prefixes        by which words are asked; None without
      guarantee       of all parts and all collections together
      users           people expected to take part
      minimum_crowd   people without whom no hop lets a round pass, m
      honest_share    share of them who do as told and whose messages arrive, h, in (0, 1]
      count_flips     whether these people's flips are part of the cover
      collections     how often a person may be asked, in [1, 1000]
      hops            mixes in order, 1 to 5
      cover           who brings it
      parts           one, or one for each bit or attribute
      certificate     of all parts and all collections together
      local_epsilon   what is left when all hops collude with the collector; None for nothing

    Raises PlanError for what does not fit together, ParameterError for numbers outside their
    ranges.
    """

    question: Question
    edges: tuple[float, ...] | None
    prefixes: Prefixes | None
    guarantee: Guarantee
    users: int
    minimum_crowd: int
    honest_share: float
    count_flips: bool
    collections: int
    hops: int
    cover: Cover
    parts: tuple[Part, ...]
    certificate: Certificate
    local_epsilon: float | None

    def __post_init__(self) -> None:
        as_floats(self, "honest_share", "local_epsilon")
        checked_users(self.users)
        checked_fraction(self.honest_share)
        self._check_ranges()
        self._check_encoder()
        self._check_parts()
        self._check_cover()
        stated, promised = self.certificate, self.guarantee
        if (
            promised.observer is not Observer.MESSAGES
            or stated.observer is not Observer.MESSAGES
            or stated.epsilon != promised.epsilon
            or not stated.upper <= promised.delta
        ):
            raise _wrong(
                "certificate",
                f"delta <= {promised.delta:g} at epsilon {promised.epsilon:g} for messages",
                f"{stated.upper:g} at {stated.epsilon:g} for {stated.observer}",
            )

    def _check_ranges(self) -> None:
        for subject, value, most, least in (
            ("minimum crowd", self.minimum_crowd, self.users, 1),
            ("collections", self.collections, MOST_COLLECTIONS, 1),
            ("hops", self.hops, MOST_HOPS, 1),
        ):
            in_range(subject, value, least, most, "make the contract again")
        if self.local_epsilon is not None and not 0.0 <= self.local_epsilon < math.inf:
            raise _wrong("local epsilon", "a finite number, or none", self.local_epsilon)

    def _check_encoder(self) -> None:
        one = self.question.kind is Kind.ONE
        ways = [self.edges is not None, self.prefixes is not None, self.question.hashed is not None]
        if sum(ways) > 1 or (any(ways) and not one):
            raise _wrong("encoder", "one way to turn a value into a bin", "several")
        if self.edges is not None:
            rising = all(a < b for a, b in zip(self.edges, self.edges[1:], strict=False))
            if len(self.edges) != self.question.bins + 1 or not rising or _endless(self.edges):
                raise _wrong(
                    "edges",
                    f"{self.question.bins + 1:,} finite numbers that ascend",
                    f"{len(self.edges):,}",
                )
        if self.prefixes is not None and self.prefixes.bins != self.question.bins:
            raise _wrong("prefixes", f"{self.question.bins:,} bins", f"{self.prefixes.bins:,}")

    def _check_parts(self) -> None:
        for way in encodings(self.question):
            clear = way.in_clear()
            for sent in (way,) if clear is None else (way, clear):
                if _fits(sent.parts, self.parts):
                    return
        raise _wrong(
            "parts",
            f"one for records of kind {self.question.kind} over {self.question.bins:,} bins, or "
            "one for each bit or attribute",
            f"{len(self.parts)} over {', '.join(f'{part.bins:,}' for part in self.parts[:5])}",
        )

    def _check_cover(self) -> None:
        kinds = {part.by_mixes for part in self.parts}
        if kinds != {self.cover is Cover.MIXES}:
            raise _wrong("cover", f"parts covered by {self.cover}", "other recipes")
        if self.cover is Cover.MIXES:
            if self.count_flips:
                raise _wrong("cover", "fakes of every mix alone", "people's flips beside them")
            return
        if self.sure_people < LEAST_USERS:
            raise _wrong(
                "minimum crowd",
                f"at least {LEAST_USERS} honest people of the minimum crowd",
                f"{self.sure_people}",
            )
        flipped = [part for part in self.parts if part.protocol == "flip-uniform"]
        if flipped and len(self.parts) * self.collections > 1:
            raise _wrong("cover", "flip-uniform once and for one part", "more of them")
        bare = [part for part in self.parts if part.own is None]
        if bare and not self.count_flips:
            raise _wrong("cover", "fakes of devices, or people's flips counted", "neither")

    @property
    def sure_people(self) -> int:
        """Honest people who surely take part: floor(h m), exact in the decimals as written."""
        return arriving(self.minimum_crowd, self.honest_share)

    @property
    def questions(self) -> tuple[Question, ...]:
        """What each part asks, in their order."""
        for way in encodings(self.question):
            clear = way.in_clear()
            for sent in (way,) if clear is None else (way, clear):
                if _fits(sent.parts, self.parts):
                    return sent.parts
        raise TypeError("terms without a question for their parts")

    @property
    def noise(self) -> float:
        """Standard error of an empty bin in counts, the largest of all parts, if all users answer.

        By noise alone: values that meet in a bin add to it.
        """
        return max(map(self._noise_of, self.parts))

    def _noise_of(self, part: Part) -> float:
        fakes = 0 if part.own is None else round(self.users * part.own.mean)
        if isinstance(part.recipe, BlanksRecipe):
            fakes = part.recipe.count * self.hops
        crowd = self.sure_people if self.count_flips else 0
        made = part.mechanism(fakes=fakes, crowd=crowd, mixes=self.hops)
        return made.standard_error(self.users)

    @property
    def message_bytes(self) -> tuple[int, ...]:
        """Bytes of a message of each part as the collector reads it."""
        return tuple(part.layout.message_bytes for part in self.parts)


def _fits(asked: tuple[Question, ...], parts: tuple[Part, ...]) -> bool:
    """Whether each of ``parts`` can hold the record of its question, and no larger one."""
    if len(asked) != len(parts):
        return False
    return all(
        part.bins == one.bins
        and part.most_set == (None if one.kind is Kind.BITS else one.max_set)
        and (one.kind is Kind.ONE or not _one_each(part))
        for one, part in zip(asked, parts, strict=True)
    )


def _one_each(part: Part) -> bool:
    """Whether only records of exactly one bin are hidden: a set may be empty."""
    uniform = part.own is not None and part.own.record is FakeRecord.UNIFORM
    return part.threshold is None or uniform


def _endless(numbers: tuple[float, ...]) -> bool:
    return not all(math.isfinite(number) for number in numbers)


def _wrong(subject: str, wanted: str, got: object) -> PlanError:
    return PlanError(
        f"{subject} of the contract", wanted=wanted, got=got, do="make the contract again"
    )

"""The plan of a collection: what is asked, how it is hidden, what that is worth."""

from enum import StrEnum
from hashlib import sha256
from typing import Any

import msgspec

from mixtally.device.contract.plan import read_plan
from mixtally.device.contract.question import read_prefixes
from mixtally.errors import PlanError
from mixtally.model.certificate import Certificate
from mixtally.model.contract_json import check_readable, encode_record, stringify_large_integers
from mixtally.model.costs import Costs
from mixtally.model.encodings import list_encodings
from mixtally.model.grid import Grid
from mixtally.model.guarantee import Guarantee, count_arriving
from mixtally.model.part import Part
from mixtally.model.question import Question
from mixtally.primitives.codec import convert_to_floats


class Cover(StrEnum):
    """Who brings what hides a person."""

    MIXES = "every mix"
    """Every hop draws all of it: any one honest hop suffices."""
    PEOPLE = "people"
    """Devices do, by fakes or flips: the first honest hop must receive enough of them."""


class Prefixes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A word is asked by the symbols that follow a prefix; a round brings the prefixes.

    where
      alphabet   the characters that are spelled briefly, 2 to 200, each once
      most       the most prefixes of a round
      longest    the most symbols of a word that are looked at
      symbols    how many a round asks for, in [1, 10]
    """

    alphabet: str
    most: int
    longest: int
    symbols: int = 1

    def __post_init__(self) -> None:
        check_readable(lambda value: read_prefixes(value, self.bins), self)

    @property
    def bins(self) -> int:
        """Every prefix with every symbol, the end and the escape, and everything else."""
        return int(self.most * (len(self.alphabet) + 2) ** self.symbols) + 1


class Plan(Costs, msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a contract promises, whoever runs it.

    where
      version         of this format
      question        the whole question; its labels, attributes or hash turn a value into bins
      edges           where numbers are cut into bins, ascending, bins + 1 of them; None without
      grid            to whose points numbers are rounded at random; None without
      prefixes        by which words are asked; None without
      guarantee       of all parts and all collections together
      users           people expected to take part
      minimum_crowd   people without whom no hop lets a round pass, m
      honest_share    share of them who do as told and whose messages arrive, h, in (0, 1]
      count_flips     whether these people's flips or replaced values are part of the cover
      collections     how often a person may be asked, in [1, 1000]
      hops            mixes in order, 1 to 5
      cover           who brings it
      parts           one, or one for each bit or attribute
      certificate     of all parts and all collections together
      local_epsilon   what is left when all hops collude with the collector; None for nothing

    Raises PlanError for what does not fit together and for numbers outside their ranges.
    """

    version: int
    question: Question
    edges: tuple[float, ...] | None
    grid: Grid | None
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
        convert_to_floats(self, "honest_share", "local_epsilon")
        check_readable(read_plan, self)

    @property
    def honest_people(self) -> int:
        """Honest people who certainly take part: floor(h m), exact in the decimals as written."""
        return count_arriving(self.minimum_crowd, self.honest_share)

    @property
    def questions(self) -> tuple[Question, ...]:
        """What each part asks, in their order."""
        for way in list_encodings(self.question):
            clear = way.to_clear()
            for sent in (way,) if clear is None else (way, clear):
                if _fits(sent.parts, self.parts):
                    return sent.parts
        raise TypeError("plan without a question for their parts")

    @property
    def crowd(self) -> int:
        """People whose flips are counted on: those who certainly take part, or none."""
        return self.honest_people if self.count_flips else 0

    @property
    def fakes_counted(self) -> int:
        """Fakes of a collection that are counted on: those of honest people, or of one hop."""
        if self.cover is Cover.MIXES:
            return self.messages_per_mix
        owns = [part.own for part in self.parts if part.own is not None]
        return sum(own.mean_for(self.honest_people) for own in owns)

    def single_part(self, do: str) -> Part:
        """The one message of a record; raises PlanError, with what to ``do``, for several."""
        if len(self.parts) > 1:
            raise PlanError(
                "plan",
                expected="records that travel as one message",
                got=f"{len(self.parts)} messages a record",
                do=do,
            )
        return self.parts[0]

    def local_epsilon_of(self, collections: int) -> float | None:
        """The local epsilon of so many collections under it; None where nothing is left."""
        if self.local_epsilon is None:
            return None
        return self.local_epsilon * collections / self.collections

    def to_plain(self) -> dict[str, Any]:
        """As its file has it, integers above 2^53 as decimal strings."""
        found: dict[str, Any] = stringify_large_integers(msgspec.to_builtins(self))
        return found

    @property
    def fingerprint(self) -> str:
        """SHA-256 of its file, 64 hexadecimal digits: whoever has the same has the same plan."""
        return sha256(encode_record(self)).hexdigest()

    def facts(self) -> dict[str, Any]:
        """Everything it says, flat, in the field's terms; for JSON and for people.

        ``local_epsilon`` is None where nothing is left; messages and bytes are those of a device.
        """
        shown, first = self.certificate, self.parts[0]
        made = first.mechanism(fakes=0, crowd=self.crowd, mixes=self.hops)
        return {
            "protocol": self.protocol,
            "cover": str(self.cover),
            "hops": self.hops,
            "epsilon": shown.epsilon,
            "delta": shown.upper,
            "delta_lower": shown.lower,
            "delta_target": self.guarantee.delta,
            **shown.terms(),
            "users": self.users,
            "minimum_crowd": self.minimum_crowd,
            "honest_share": self.honest_share,
            "collections": self.collections,
            **self.costs(),
            "fakes_counted": self.fakes_counted,
            **made.facts(),
            "local_epsilon": self.local_epsilon,
        }


def _fits(asked: tuple[Question, ...], parts: tuple[Part, ...]) -> bool:
    """Whether ``parts`` are those of these questions: no two ways to send one have like bins."""
    return [one.bins for one in asked] == [part.bins for part in parts]

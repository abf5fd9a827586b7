"""The plan of a collection: the question, the mechanism of each part, and the guarantee.

The planner makes plans. A plan is simulated, run by mixes and a collector, charged to the budgets
of people, and attacked. A contract is a plan together with its operators.
"""

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
from mixtally.model.encodings import list_encodings, slots_question
from mixtally.model.grid import Grid
from mixtally.model.guarantee import Guarantee, count_arriving
from mixtally.model.part import Part
from mixtally.model.question import Question
from mixtally.primitives.codec import convert_to_floats


class Cover(StrEnum):
    """Who provides the cover: the fakes or flips that protect a person."""

    MIXES = "every mix"
    """Every hop draws the whole cover, so one honest hop is sufficient."""
    PEOPLE = "people"
    """Devices provide fakes or flips, and the first honest hop must receive enough of them."""


class Prefixes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The parameters of a question for the symbols that follow known prefixes of words.

    Every round has other prefixes, so that words become known symbol by symbol.

    Attributes
    ----------
    alphabet : str
        The 2 to 200 distinct characters that are one symbol each.
    most : int
        The maximum number of prefixes in a round.
    longest : int
        The maximum number of symbols of a word that are used.
    symbols : int
        The number of symbols that a round asks for, in [1, 10].
    """

    alphabet: str
    most: int
    longest: int
    symbols: int = 1

    def __post_init__(self) -> None:
        check_readable(lambda value: read_prefixes(value, self.bins), self)

    @property
    def bins(self) -> int:
        """The number of bins: one for each prefix with each next symbol, and one for other words.

        The end of a word and the escape are symbols, too.
        """
        return int(self.most * (len(self.alphabet) + 2) ** self.symbols) + 1


class Plan(Costs, msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A plan of a collection, independent of the operators that run it.

    Raises PlanError if the fields contradict each other or a number is outside its range.

    Attributes
    ----------
    version : int
        The version of the file format.
    question : Question
        The whole question. Its labels, attributes or hash map a value to bins.
    edges : tuple of float or None
        The bins + 1 ascending boundaries of the bins, if each bin is a range of numbers. None for
        other bins.
    grid : Grid or None
        The grid to whose points numbers are rounded at random.
    prefixes : Prefixes or None
        How many prefixes and symbols a round may have. None unless rounds ask for the symbols that
        follow known prefixes of words.
    guarantee : Guarantee
        The guarantee of all parts and all collections together.
    users : int
        The number of people expected to take part.
    minimum_crowd : int
        The minimum number m of people. With fewer, no hop passes the messages of a round on.
    honest_share : float
        The share h of people who follow the protocol and whose messages arrive, in (0, 1].
    count_flips : bool
        Whether the guarantee relies on the flips or replaced values of these honest people.
    collections : int
        How often a person may be asked, in [1, 1000].
    hops : int
        The number of mixes in the chain, in [1, 5].
    cover : Cover
        Who provides the cover.
    parts : tuple of Part
        One part, or one for each bit or attribute.
    certificate : Certificate
        The certificate of all parts and all collections together.
    local_epsilon : float or None
        The epsilon that remains if all hops collude with the collector. None means infinity.
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
        """The number of honest people that the guarantee assumes in every round.

        It is floor(h m), in exact decimal arithmetic.
        """
        return count_arriving(self.minimum_crowd, self.honest_share)

    @property
    def questions(self) -> tuple[Question, ...]:
        """The question of each part, in order."""
        if self.parts[0].slots is not None:
            asked = slots_question(self.question)
            if asked is not None:
                return (asked,)
        for way in list_encodings(self.question):
            clear = way.to_clear()
            for sent in (way,) if clear is None else (way, clear):
                # The bins identify the encoding: a bit in clear has two bins, a flipped bit one.
                if [one.bins for one in sent.parts] == [part.bins for part in self.parts]:
                    return sent.parts
        raise TypeError("plan without a question for their parts")

    @property
    def crowd(self) -> int:
        """The number of people whose flips or replacements the guarantee relies on.

        It is ``honest_people`` if ``count_flips``, and otherwise 0.
        """
        return self.honest_people if self.count_flips else 0

    @property
    def fakes_counted(self) -> int:
        """The number of fakes per collection on which the guarantee relies.

        If mixes are the cover, this is the mean number of fakes that one mix adds. Otherwise it is
        the mean number of fakes that ``honest_people`` devices add.
        """
        if self.cover is Cover.MIXES:
            return self.messages_per_mix
        owns = [part.own for part in self.parts if part.own is not None]
        return sum(own.mean_for(self.honest_people) for own in owns)

    def single_part(self, do: str) -> Part:
        """Return the only part, or raise PlanError with the advice ``do`` if there are several.

        Also raise PlanError if bits are sent as sampled slots. Their only part has two bins for
        each bit, so its bins are not those of the question.
        """
        first = self.parts[0]
        if len(self.parts) > 1 or (first.slots is not None and first.bins != self.question.bins):
            raise PlanError(
                "plan",
                expected="records that travel as one message",
                got=f"{len(self.parts)} messages a record" if len(self.parts) > 1 else self.name,
                do=do,
            )
        return first

    def local_epsilon_of(self, collections: int) -> float | None:
        """Return the local epsilon of ``collections`` collections; None means infinity."""
        if self.local_epsilon is None:
            return None
        # Local epsilons add up, and ``local_epsilon`` is that of all collections.
        return self.local_epsilon * collections / self.collections

    def to_plain(self) -> dict[str, Any]:
        """Return the plan as in its file, with integers above 2^53 as decimal strings."""
        found: dict[str, Any] = stringify_large_integers(msgspec.to_builtins(self))
        return found

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the plan's file, 64 hexadecimal digits."""
        return sha256(encode_record(self)).hexdigest()

    def facts(self) -> dict[str, Any]:
        """Return all properties of the plan as a flat dictionary, for people and for JSON.

        ``local_epsilon`` is None if it is infinite. Messages and bytes are those of one device.
        """
        shown, first = self.certificate, self.parts[0]
        # The facts below do not depend on the number of fakes.
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

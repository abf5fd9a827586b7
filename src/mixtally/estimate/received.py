"""From what came to the mechanism that made it: how many fakes a tally really holds.

Of the messages that came, tallied or dropped, those that hops declared are theirs; the rest is
people's: one record each, and their fakes. A release is refused where these numbers cannot be
right, and the refusal names the number. They cannot show everything: a loss that is smaller than
people's coins vary passes, and so do fakes that a dishonest hop puts where it likes.
"""

import math
from dataclasses import dataclass

from mixtally.errors import MessageError
from mixtally.ground.fixed import SCALE
from mixtally.ground.tails import window
from mixtally.records.contract import BlanksRecipe, OwnFakes, Part, ShapedRecipe, Terms
from mixtally.records.guarantee import arriving
from mixtally.records.mechanism import Shuffled
from mixtally.records.received import PartReceived, Received

MOST_DROPPED = 0.01
"""Impossible messages, as a share of contributors, above which nothing is released."""
_ASK = "ask that hop; nothing is released before"


@dataclass(frozen=True, slots=True)
class Arrived:
    """One part as it came.

    where
      mechanism   with the fakes that are in the tally
      people      whose record is in it: every dropped message is taken for a record, which is off
                  by at most so many counts over all bins where it was a fake
    """

    mechanism: Shuffled
    people: int


def reconciled(
    terms: Terms, received: Received, most_dropped: float = MOST_DROPPED
) -> tuple[Arrived, ...]:
    """What each part's tally was made by, once all numbers of ``received`` add up.

    ``most_dropped`` is the largest share of contributors whose messages may have been dropped.
    Raises MessageError for numbers that honest hops and people do not give. Where at least the
    share of people that the terms count on draws fakes by its coins, that chance is below 10^-27.
    """
    people = received.contributors
    if people < terms.minimum_crowd:
        wanted = f"at least {terms.minimum_crowd:,}, the minimum crowd"
        do = "such a round is destroyed: it is not tallied"
        raise _refused("contributors", wanted, f"{people:,}", do)
    if len(received.parts) != len(terms.parts):
        several = f"{len(terms.parts):,}", f"{len(received.parts):,}"
        raise _refused("parts of what came", *several, "count every part of the contract")
    found = []
    for number, (part, came) in enumerate(zip(terms.parts, received.parts, strict=True), 1):
        where = f"part {number}"
        _check_dropped(where, came, people, most_dropped)
        _check_declared(where, part, came, terms.hops)
        fakes = _fakes_of_people(where, part, came, people, arriving(people, terms.honest_share))
        found.append(_arrived(terms, part, came, people, fakes))
    return tuple(found)


def _arrived(terms: Terms, part: Part, came: PartReceived, people: int, fakes: int) -> Arrived:
    drawn = came.added if isinstance(part.recipe, BlanksRecipe) else fakes
    crowd = terms.sure_people if terms.count_flips else 0
    mechanism = part.mechanism(fakes=drawn, crowd=crowd, mixes=max(1, came.drew))
    return Arrived(mechanism, people - sum(came.dropped.values()))


def _check_dropped(where: str, came: PartReceived, people: int, most: float) -> None:
    allowed, dropped = math.floor(most * people), sum(came.dropped.values())
    if dropped > allowed:
        reasons = ", ".join(f"{many:,} for {reason}" for reason, many in came.dropped.items())
        raise _refused(
            f"dropped messages of {where}",
            f"at most {allowed:,} among those of {people:,} people",
            f"{dropped:,} ({reasons})",
            "find out which client or hop wrote them",
        )


def _check_declared(where: str, part: Part, came: PartReceived, hops: int) -> None:
    """Raises MessageError for a number that no hop that keeps to its recipe declares."""
    if len(came.declared) != hops:
        raise _refused(f"declared numbers of {where}", f"{hops}", f"{len(came.declared)}", _ASK)
    if part.by_mixes and not came.drew:
        wanted = "messages of at least one: nothing else hid anybody"
        raise _refused(f"hops that drew for {where}", wanted, "none", _ASK)
    least, most, words = 0, 0, "none: people bring the cover"
    if isinstance(part.recipe, BlanksRecipe):
        least = most = part.recipe.count
        words = f"{most:,}, the blanks of its recipe"
    elif isinstance(part.recipe, ShapedRecipe):
        most = part.bins * 2 * part.recipe.shift
        words = f"at most {most:,}, the most of its recipe"
    for hop, many in enumerate(came.declared, 1):
        if many is not None and not (part.by_mixes and least <= many <= most):
            raise _refused(f"messages of hop {hop} for {where}", words, f"{many:,}", _ASK)


def _fakes_of_people(where: str, part: Part, came: PartReceived, people: int, sure: int) -> int:
    """How many fakes people sent: what is left of all messages after hops' and a record each."""
    fakes = came.came - came.added - people
    least, most = _range_of_fakes(part.own, people, sure)
    if not least <= fakes <= most:
        between = f"{people + least:,}"
        if most > least:
            between += f" to {people + most:,}"
        raise _refused(
            f"messages of people in {where}",
            f"{between} of {people:,} people",
            f"{people + fakes:,}, which is {came.came:,} that came without {came.added:,} of hops",
            "find the hop that lost or added messages; nothing is released before",
        )
    return fakes


def _range_of_fakes(own: OwnFakes | None, people: int, sure: int) -> tuple[int, int]:
    """The fewest and most fakes where ``sure`` people toss their coins, the others as they like."""
    if own is None:
        return 0, 0
    whole = people * own.whole
    if not own.coin:
        return whole, whole
    coins = window(sure, own.coin / SCALE)
    return whole + coins.first, whole + coins.last + people - sure


def _refused(subject: str, wanted: str, got: str, do: str) -> MessageError:
    return MessageError(subject, wanted=wanted, got=got, do=do)

"""From what came to the mechanism that made it: how many fakes a tally really holds.

Of the messages that came, tallied or dropped, those that hops declared are theirs; the rest is
people's: one record each, and their fakes. A release is refused where these numbers contradict each
other or the contract, and the refusal names the number. Strangers can take part, so what some of
them alone can bring about refuses nothing: messages that nobody can read, and coins that fell as
hardly any do, are said beside the counts. Numbers cannot show everything: a hop that loses as many
messages as coins may bring passes, and so do fakes that a dishonest hop puts where it likes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mixtally.errors import MessageError
from mixtally.model.contract import CountedRecipe, Part, Plan, Shape
from mixtally.model.estimates import Tally
from mixtally.model.guarantee import count_arriving
from mixtally.model.mechanism import ShapedFakes, Shuffled
from mixtally.model.received import PartReceived, Received
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.tails import window
from mixtally.protocol.estimate.covering_hops import find_covering_hops
from mixtally.protocol.estimate.received_fakes import bound_fake_count

_ASK = "ask that hop; nothing is released before"


@dataclass(frozen=True, slots=True)
class ReconciledPart:
    """One part as it came.

    where
      mechanism   with the fakes that are in the tally
      people      whose record is in it. Of what was dropped so many are taken for records as of
                  all that people sent, which is right where whole bundles cannot be read; it is off
                  by no more counts over all bins than messages were dropped
      dropped     how many messages were; the people are known exactly where none were
    """

    mechanism: Shuffled
    people: int
    dropped: int = 0


def reconcile_parts(plan: Plan, received: Received) -> tuple[ReconciledPart, ...]:
    """What each part's tally was made by, once all numbers of ``received`` add up.

    Raises MessageError for numbers that contradict each other or the contract, whatever people
    sent, and where nothing of people could be read.
    """
    people = received.contributors
    if people < plan.minimum_crowd:
        expected = f"at least {plan.minimum_crowd:,}, the minimum crowd"
        do = "such a round is destroyed: it is not tallied"
        raise _message_error("contributors", expected, f"{people:,}", do)
    if len(received.parts) != len(plan.parts):
        several = f"{len(plan.parts):,}", f"{len(received.parts):,}"
        raise _message_error("parts of what came", *several, "count every part of the contract")
    found = []
    for number, (part, came) in enumerate(zip(plan.parts, received.parts, strict=True), 1):
        where = f"part {number}"
        _check_declared(where, part, came, plan.hops)
        fakes = _count_fakes_of_people(where, part, came, people)
        found.append(_reconcile_part(plan, part, came, people, fakes, where))
    if not find_covering_hops(plan, received):
        expected = "one that brought its whole recipe: nothing else hid anybody"
        raise _message_error("hops", expected, "none", _ASK)
    return tuple(found)


def assume_received(
    plan: Plan,
    people: int,
    tallies: Sequence[Tally],
    dropped: Mapping[str, int] | None = None,
) -> Received:
    """What came where nobody declares anything, as in one process: mixes are taken to have added
    all their blanks, or alike what is more than people's records.

    ``dropped`` has how many messages of the only part were, by their reasons; None for none.
    """
    parts, lost = [], dict(dropped or {})
    for part, tally in zip(plan.parts, tallies, strict=True):
        declared: tuple[int | None, ...] = (None,) * plan.hops
        if isinstance(part.recipe, CountedRecipe):
            declared = (part.recipe.count,) * plan.hops
        elif part.by_mixes:
            came = tally.messages + sum(lost.values())
            each, more = divmod(max(0, came - people * part.record_messages), plan.hops)
            declared = (each + more, *(each,) * (plan.hops - 1))
        parts.append(PartReceived(declared=declared, received=tally.messages, dropped=lost))
    return Received(contributors=people, parts=tuple(parts))


def reconcile_mechanism(plan: Plan, tally: Tally, people: int) -> Shuffled:
    """The mechanism of the one message of a record with the fakes that came in one process."""
    (came,) = reconcile_parts(plan, assume_received(plan, people, [tally]))
    return came.mechanism


def find_coin_warnings(plan: Plan, received: Received) -> list[str]:
    """What contradicts nothing, and comes of honest people less often than once in 10^27 rounds.

    That is said of rounds in which at least the share of people that the plan counts on is honest.
    """
    people, told = received.contributors, list[str]()
    honest = count_arriving(people, plan.honest_share)
    for number, (part, came) in enumerate(zip(plan.parts, received.parts, strict=True), 1):
        if part.own is None or not part.own.coin:
            continue
        coins, least = window(honest, part.own.coin / SCALE), people * part.least
        sent, most = came.received_count - came.added_count, least + coins.last + people - honest
        if not least + coins.first <= sent <= most:
            told.append(
                f"Part {number}: people sent {sent:,} messages; {least + coins.first:,} to "
                f"{most:,} come of the coins of {honest:,} honest ones among {people:,}. Fewer "
                "were honest than the promise counts on, or a hop lost or added messages."
            )
    return told


def _reconcile_part(
    plan: Plan, part: Part, came: PartReceived, people: int, fakes: int, where: str
) -> ReconciledPart:
    dropped, sent = sum(came.dropped.values()), people * part.record_messages + fakes
    if dropped >= sent:
        expected = f"fewer than the {sent:,} messages of people"
        do = "find the hop that broke them: nothing is left to count"
        raise _message_error(f"dropped messages of {where}", expected, f"{dropped:,}", do)
    records = people * dropped // sent
    lost = dropped - records * part.record_messages
    in_tally = fakes - lost if part.own else fakes
    drawn = came.added_count if isinstance(part.recipe, CountedRecipe) else in_tally
    crowd = plan.honest_people if plan.count_flips else 0
    mechanism = part.mechanism(fakes=drawn, crowd=crowd, mixes=max(1, came.drawing_hop_count))
    return ReconciledPart(mechanism, people - records, dropped)


def _check_declared(where: str, part: Part, came: PartReceived, hops: int) -> None:
    """Raises MessageError for a number that no hop that keeps to its recipe declares."""
    if len(came.declared) != hops:
        raise _message_error(
            f"declared numbers of {where}", f"{hops}", f"{len(came.declared)}", _ASK
        )
    if part.by_mixes and not came.drawing_hop_count:
        expected = "messages of at least one: nothing else hid anybody"
        raise _message_error(f"hops that drew for {where}", expected, "none", _ASK)
    most, words = 0, "none: people bring the cover"
    if isinstance(part.recipe, CountedRecipe):
        most = part.recipe.count
        words = f"at most {most:,}, those of its recipe"
    elif isinstance(part.recipe, Shape):
        most = part.mean_added + bound_fake_count(ShapedFakes(part.recipe), part.layout.bins)[1]
        words = f"at most {most:,}, more than its recipe brings once in 10^9 rounds"
    for hop, many in enumerate(came.declared, 1):
        if many is not None and not (part.by_mixes and many <= most):
            raise _message_error(f"messages of hop {hop} for {where}", words, f"{many:,}", _ASK)


def _count_fakes_of_people(where: str, part: Part, came: PartReceived, people: int) -> int:
    """How many fakes people sent: what is left of all messages after hops' and a record each."""
    sent, least, most = (
        came.received_count - came.added_count,
        people * part.least,
        people * part.most,
    )
    if not least <= sent <= most:
        between = f"{least:,}" + f" to {most:,}" * (most > least)
        raise _message_error(
            f"messages of people in {where}",
            f"{between} of {people:,} people",
            f"{sent:,}, which is {came.received_count:,} that came without {came.added_count:,} "
            f"of hops",
            "find the hop that lost or added messages; nothing is released before",
        )
    return sent - people * part.record_messages


def _message_error(subject: str, expected: str, got: str, do: str) -> MessageError:
    return MessageError(subject, expected=expected, got=got, do=do)

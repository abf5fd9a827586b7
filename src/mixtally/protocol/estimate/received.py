"""Reconciliation of a round: how many fakes and how many people its tally contains.

``conclude`` calls this module before it estimates. A fake is a dummy message, and a *hop* is a mix
at its position in the chain. The received messages, tallied or dropped, consist of those that hops
declared, one record of each person, and the fakes that people sent. A release is refused if these
numbers contradict each other or the contract, and the error names the number. Anyone can take part,
so nothing that a few participants can cause leads to a refusal. Invalid messages, and an improbable
number of people's fakes, are reported next to the counts. Some attacks leave no trace in the
numbers. The number of fakes that people send is random, so a hop can remove about as many messages
as the standard deviation of this number. A dishonest hop may also put its fakes into any bins.
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

# The remedy in most errors of this module.
_ASK = "ask that hop; nothing is released until then"


@dataclass(frozen=True, slots=True)
class ReconciledPart:
    """One part of a round after reconciliation.

    ``mechanism`` has the number of fakes in the tally. ``people`` is the number of people whose
    record is in the tally. ``dropped`` is the number of messages that were received but not
    tallied. They are assumed to be records and fakes in the proportion in which people sent these.
    This is exact if all messages of a person are invalid together. Otherwise the counts of all bins
    are wrong by at most ``dropped``.
    """

    mechanism: Shuffled
    people: int
    dropped: int = 0


def reconcile_parts(plan: Plan, received: Received) -> tuple[ReconciledPart, ...]:
    """Return the people and the mechanism, with the received fakes, of each part of a round.

    Parameters
    ----------
    plan : Plan
        The plan of the round.
    received : Received
        The numbers that hops and the collector declared.

    Raises
    ------
    MessageError
        If the numbers contradict each other or the contract in a way that no participants can
        cause, or if no message of people could be read.
    """
    people = received.contributors
    if people < plan.minimum_crowd:
        expected = f"at least {plan.minimum_crowd:,}, the minimum crowd"
        do = "do not tally this round: it must be destroyed"
        raise _message_error("contributors", expected, f"{people:,}", do)
    if len(received.parts) != len(plan.parts):
        several = f"{len(plan.parts):,}", f"{len(received.parts):,}"
        raise _message_error("parts of the round", *several, "count every part of the contract")
    found = []
    for number, (part, part_received) in enumerate(zip(plan.parts, received.parts, strict=True), 1):
        where = f"part {number}"
        _check_declared(where, part, part_received, plan.hops)
        fakes = _count_fakes_of_people(where, part, part_received, people)
        found.append(_reconcile_part(plan, part, part_received, people, fakes, where))
    if not find_covering_hops(plan, received):
        expected = "one that added its whole recipe, because nothing else hides an answer"
        raise _message_error("hops", expected, "none", _ASK)
    return tuple(found)


def assume_received(
    plan: Plan,
    people: int,
    tallies: Sequence[Tally],
    dropped: Mapping[str, int] | None = None,
) -> Received:
    """Return the numbers of a round that was simulated in one process, without declarations.

    If the recipe of mixes fixes a number of fakes, each mix is assumed to have added this number.
    Otherwise the messages that are not records of people are divided equally among the mixes.

    Parameters
    ----------
    plan : Plan
        The plan of the round.
    people : int
        The number of people who took part.
    tallies : sequence of Tally
        The tally of each part.
    dropped : mapping of str to int or None
        The number of dropped messages of the only part, by reason.
    """
    parts, lost = [], dict(dropped or {})
    for part, tally in zip(plan.parts, tallies, strict=True):
        declared: tuple[int | None, ...] = (None,) * plan.hops
        if part.has_fixed_count:
            declared = (part.mean_added,) * plan.hops
        elif part.by_mixes:
            sent = tally.messages + sum(lost.values())
            each, more = divmod(max(0, sent - people * part.record_messages), plan.hops)
            declared = (each + more, *(each,) * (plan.hops - 1))
        parts.append(PartReceived(declared=declared, received=tally.messages, dropped=lost))
    return Received(contributors=people, parts=tuple(parts))


def reconcile_mechanism(plan: Plan, tally: Tally, people: int) -> Shuffled:
    """Return the mechanism, with its number of fakes, of a round that was simulated in one process.

    Parameters
    ----------
    plan : Plan
        The plan, which must have one part.
    tally : Tally
        The tally of the round.
    people : int
        The number of people who took part.
    """
    (reconciled,) = reconcile_parts(plan, assume_received(plan, people, [tally]))
    return reconciled.mechanism


def find_coin_warnings(plan: Plan, received: Received) -> list[str]:
    """Return warnings about numbers of people's fakes that are possible but very improbable.

    A *coin* is a random bit of a device, which decides whether the device sends one more fake. If
    the share of honest people is at least that which the plan assumes, the probability of a warning
    is below 1e-27.

    Parameters
    ----------
    plan : Plan
        The plan of the round.
    received : Received
        The numbers that hops and the collector declared.
    """
    people, warnings = received.contributors, list[str]()
    honest = count_arriving(people, plan.honest_share)
    for number, (part, part_received) in enumerate(zip(plan.parts, received.parts, strict=True), 1):
        if part.own is None or not part.own.coin:
            continue
        coins, least = window(honest, part.own.coin / SCALE), people * part.least
        sent, most = (
            part_received.received_count - part_received.added_count,
            least + coins.last + people - honest,
        )
        if not least + coins.first <= sent <= most:
            warnings.append(
                f"Part {number}: people sent {sent:,} messages; expected {least + coins.first:,} "
                f"to {most:,} if {honest:,} of {people:,} people are honest. Fewer people were "
                "honest than the guarantee assumes, or a hop lost or added messages."
            )
    return warnings


def _reconcile_part(
    plan: Plan, part: Part, received: PartReceived, people: int, fakes: int, where: str
) -> ReconciledPart:
    """Reconcile one part, given the number of fakes that people sent."""
    dropped, sent = sum(received.dropped.values()), people * part.record_messages + fakes
    if dropped >= sent:
        expected = f"fewer than the {sent:,} messages of people"
        do = "find the hop that damaged them; no message is left to count"
        raise _message_error(f"dropped messages of {where}", expected, f"{dropped:,}", do)
    records = people * dropped // sent
    lost = dropped - records * part.record_messages
    in_tally = fakes - lost if part.own else fakes
    drawn = received.added_count if isinstance(part.recipe, CountedRecipe) else in_tally
    crowd = plan.honest_people if plan.count_flips else 0
    mechanism = part.mechanism(fakes=drawn, crowd=crowd, mixes=max(1, received.drawing_hop_count))
    return ReconciledPart(mechanism, people - records, dropped)


def _check_declared(where: str, part: Part, received: PartReceived, hops: int) -> None:
    """Raise MessageError for a declared number of fakes that contradicts the recipe of hops."""
    if len(received.declared) != hops:
        raise _message_error(
            f"declared numbers of {where}", f"{hops}", f"{len(received.declared)}", _ASK
        )
    if part.by_mixes and not received.drawing_hop_count:
        expected = "at least one, because nothing else hides an answer"
        raise _message_error(f"hops that drew for {where}", expected, "none", _ASK)
    least, most, words = 0, 0, "none, because people send the fakes"
    if isinstance(part.recipe, CountedRecipe):
        most = part.recipe.count
        words = f"at most {most:,}, those of its recipe"
    elif part.has_fixed_count:  # with others, both counts would be wrong
        least = most = part.mean_added
        words = f"{most:,}, which its recipe fixes"
    elif isinstance(part.recipe, Shape):
        most = part.mean_added + bound_fake_count(ShapedFakes(part.recipe), part.layout.bins)[1]
        words = f"at most {most:,}, which its recipe exceeds once in 10^9 rounds"
    for hop, many in enumerate(received.declared, 1):
        if many is not None and not (part.by_mixes and least <= many <= most):
            raise _message_error(f"messages of hop {hop} for {where}", words, f"{many:,}", _ASK)


def _count_fakes_of_people(where: str, part: Part, received: PartReceived, people: int) -> int:
    """Return the number of people's fakes: all messages minus those of hops and of records.

    Raises MessageError if people cannot have sent this number of messages.
    """
    sent, least, most = (
        received.received_count - received.added_count,
        people * part.least,
        people * part.most,
    )
    if not least <= sent <= most:
        between = f"{least:,}" + f" to {most:,}" * (most > least)
        raise _message_error(
            f"messages of people in {where}",
            f"{between} from {people:,} people",
            f"{sent:,} ({received.received_count:,} received, minus "
            f"{received.added_count:,} that hops added)",
            "find the hop that lost or added messages; nothing is released until then",
        )
    return sent - people * part.record_messages


def _message_error(subject: str, expected: str, got: str, do: str) -> MessageError:
    return MessageError(subject, expected=expected, got=got, do=do)

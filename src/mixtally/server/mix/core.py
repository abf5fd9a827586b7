"""State machine of a round at a mix.

    SIGNED -> OPEN -> CLOSED -> MIXED -> DELIVERED -> SHREDDED
                      CLOSED -> DESTROYED (too few people) -> SHREDDED
    a round withdrawn before it opens -> WITHDRAWN -> SHREDDED
    a round not delivered at its expiry -> EXPIRED -> SHREDDED
    a round broken off, after the loss of a disk or by an operator -> BROKEN -> SHREDDED

The functions here are pure, with the time as an argument. ``Mix`` reads the facts from disk each
time, so that a restarted process continues where it stopped.
"""

from enum import StrEnum
from typing import NamedTuple

from mixtally.server.node.batch_status import BatchStatus


class MixState(StrEnum):
    """State of a round."""

    SIGNED = "signed"  # ``server.node.rounds.SIGNED``
    """The mix has signed the sheet, but not all roles have."""
    OPEN = "open"
    CLOSED = "closed"
    """All messages to be mixed are stored, and no more are accepted."""
    MIXED = "mixed"
    """The outgoing messages are fixed: their manifest is signed."""
    DELIVERED = "delivered"
    DESTROYED = "destroyed"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    BROKEN = "broken"
    """The loss of a disk or an operator ended the round (``is_broken_off`` of its stored end)."""
    SHREDDED = "shredded"


class Event(StrEnum):
    """The reasons for which the state of a round changes."""

    ALL_SIGNED = "all signed"
    COMPLETE = "complete"
    SIGNED_OFF = "signed off"
    TOO_FEW = "too few"
    RECEIPT = "receipt"
    EXPIRY = "expiry"
    WITHDRAWAL = "withdrawal"
    ACCIDENT = "accident"
    GONE = "gone"


_RUNNING = (MixState.SIGNED, MixState.OPEN, MixState.CLOSED, MixState.MIXED)
TRANSITIONS = {
    (MixState.SIGNED, Event.ALL_SIGNED): MixState.OPEN,
    (MixState.OPEN, Event.COMPLETE): MixState.CLOSED,
    (MixState.CLOSED, Event.SIGNED_OFF): MixState.MIXED,
    (MixState.CLOSED, Event.TOO_FEW): MixState.DESTROYED,
    (MixState.MIXED, Event.RECEIPT): MixState.DELIVERED,
    (MixState.SIGNED, Event.EXPIRY): MixState.EXPIRED,
    (MixState.OPEN, Event.EXPIRY): MixState.EXPIRED,
    (MixState.CLOSED, Event.EXPIRY): MixState.EXPIRED,
    (MixState.MIXED, Event.EXPIRY): MixState.EXPIRED,
    (MixState.SIGNED, Event.WITHDRAWAL): MixState.WITHDRAWN,
    (MixState.OPEN, Event.WITHDRAWAL): MixState.WITHDRAWN,
    **{(state, Event.ACCIDENT): MixState.BROKEN for state in _RUNNING},
    (MixState.BROKEN, Event.GONE): MixState.SHREDDED,
    (MixState.DELIVERED, Event.GONE): MixState.SHREDDED,
    (MixState.DESTROYED, Event.GONE): MixState.SHREDDED,
    (MixState.EXPIRED, Event.GONE): MixState.SHREDDED,
    (MixState.WITHDRAWN, Event.GONE): MixState.SHREDDED,
}
"""The next state for each state and event; all other combinations are impossible."""
ENDS = (
    MixState.DELIVERED,
    MixState.DESTROYED,
    MixState.EXPIRED,
    MixState.WITHDRAWN,
    MixState.BROKEN,
)
"""States in which a round ends; its files are destroyed next."""


class Facts(NamedTuple):
    """The facts about a round, from which the next event and the next work follow."""

    state: MixState
    closes: int
    expires: int
    first: bool
    """Whether the mix is the first hop."""
    all_signed: bool = False
    """Whether all roles have signed the sheet."""
    withdrawn: bool = False
    """Whether this role has signed a withdrawal of the round."""
    broken: bool = False
    """Whether the loss of a disk or an operator has ended the round."""
    preceding_batch: BatchStatus = BatchStatus.NONE
    """The status of the received batch, according to the manifest of the preceding hop."""
    quiet: bool = False
    """At the first hop, whether no process can add bundles any more."""
    missing: int = 0
    """Number of pieces not received."""
    received: bool = False
    """Whether this role has signed the receipt."""
    own_batch: BatchStatus = BatchStatus.NONE
    """The status of the outgoing batch, according to this role's manifest."""
    manifest_sent: bool = False
    """Whether an attempt was made to send this role's manifest to every other role."""
    receipt: bool = False
    """Whether the next role has signed the receipt of this role's batch."""
    destroyed: bool = False
    """Whether the key and all files of the round are destroyed."""


def next_event(facts: Facts, now: int) -> Event | None:
    """Return the event that has happened but is not stored yet, or None."""
    state, late = facts.state, now >= facts.expires
    if state in ENDS:
        # A mix restored from a backup has no key to destroy, but must still sign that the round is
        # lost.
        signed = state is not MixState.BROKEN or facts.own_batch is not BatchStatus.NONE
        return Event.GONE if facts.destroyed and signed else None
    if facts.withdrawn and state in (MixState.SIGNED, MixState.OPEN):
        return Event.WITHDRAWAL
    if facts.broken and state in _RUNNING:
        return Event.ACCIDENT
    # Tested before the expiry, because a signed manifest or a receipt takes precedence over it.
    if state is MixState.CLOSED and facts.own_batch is not BatchStatus.NONE:
        return Event.SIGNED_OFF if facts.own_batch is BatchStatus.PIECES else Event.TOO_FEW
    if state is MixState.MIXED and facts.receipt:
        return Event.RECEIPT
    if state is not MixState.SHREDDED and late:
        return Event.EXPIRY
    if state is MixState.SIGNED and facts.all_signed:
        return Event.ALL_SIGNED
    if state is MixState.OPEN and _is_complete(facts, now):
        return Event.COMPLETE
    return None


def _is_complete(facts: Facts, now: int) -> bool:
    """Return whether all messages to be mixed have been received."""
    if facts.first:
        return now >= facts.closes and facts.quiet
    return facts.preceding_batch is BatchStatus.DESTROYED or (
        facts.preceding_batch is BatchStatus.PIECES and facts.missing == 0
    )


class Work(StrEnum):
    """Work that advances a round; repeating it has the same effect."""

    TAKE = "take"
    """Accept bundles."""
    STOP = "stop"
    """Accept no more bundles, and wait until all acknowledged ones can be read."""
    RECEIVE = "receive"
    """Sign the receipt."""
    MIX = "mix"
    """Open envelopes, add fakes, sort, and sign the manifest of a batch or of its destruction."""
    DELIVER = "deliver"
    """Send the pieces to the next role."""
    DECLARE = "declare"
    """Sign that the round has expired, or was broken off."""
    SHRED = "shred"
    """Destroy everything but the signed notes."""


def next_work(facts: Facts, now: int) -> Work | None:
    """Return the work that is due, or None."""
    match facts.state:
        case MixState.OPEN if facts.first:
            return Work.TAKE if now < facts.closes else Work.STOP
        case MixState.CLOSED if facts.preceding_batch is BatchStatus.PIECES and not facts.received:
            return Work.RECEIVE
        case MixState.CLOSED if facts.own_batch is BatchStatus.NONE:
            return Work.MIX
        # Pieces are sent after the manifest, because the next role refuses unknown pieces.
        case MixState.MIXED if facts.manifest_sent and not facts.receipt:
            return Work.DELIVER
        case MixState.EXPIRED | MixState.BROKEN if facts.own_batch is BatchStatus.NONE:
            return Work.DECLARE
        case _ if facts.state in ENDS and not facts.destroyed:
            return Work.SHRED
    return None

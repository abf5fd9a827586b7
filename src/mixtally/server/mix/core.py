"""How a round moves: states as a table, what is known as plain facts, time an argument.

    SIGNED -> OPEN -> CLOSED -> MIXED -> DELIVERED -> SHREDDED
                      CLOSED -> DESTROYED (too few) -> SHREDDED
    what has not opened and is withdrawn -> WITHDRAWN -> SHREDDED
    whatever is not delivered at its expiry -> EXPIRED -> SHREDDED

Facts are read from the disk every time, so a process that starts again goes on where it was.
"""

from enum import StrEnum
from typing import NamedTuple

from mixtally.server.node.batch_status import BatchStatus


class MixState(StrEnum):
    """How far a round is."""

    SIGNED = "signed"  # ``server.node.rounds.SIGNED``
    """This role has signed its sheet; not all have."""
    OPEN = "open"
    CLOSED = "closed"
    """All that is to be mixed is on this disk, and nothing more is taken."""
    MIXED = "mixed"
    """What leaves is fixed: its manifest is signed."""
    DELIVERED = "delivered"
    DESTROYED = "destroyed"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    SHREDDED = "shredded"


class Event(StrEnum):
    """Why a round moves."""

    ALL_SIGNED = "all signed"
    COMPLETE = "complete"
    SIGNED_OFF = "signed off"
    TOO_FEW = "too few"
    RECEIPT = "receipt"
    EXPIRY = "expiry"
    WITHDRAWAL = "withdrawal"
    GONE = "gone"


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
    (MixState.DELIVERED, Event.GONE): MixState.SHREDDED,
    (MixState.DESTROYED, Event.GONE): MixState.SHREDDED,
    (MixState.EXPIRED, Event.GONE): MixState.SHREDDED,
    (MixState.WITHDRAWN, Event.GONE): MixState.SHREDDED,
}
"""Every way there is."""
ENDS = (MixState.DELIVERED, MixState.DESTROYED, MixState.EXPIRED, MixState.WITHDRAWN)
"""How a round can end; what follows is that nothing is left of it."""


class Facts(NamedTuple):
    """What is known of a round.

    where
      first        whether this is the first hop
      all_signed   whether all roles have signed the sheet
      withdrawn    whether this role has signed that the round is withdrawn
      before       what the preceding hop's manifest says
      quiet        at the first hop, whether nothing can be added to what people sent
      missing      pieces of it that have not come
      received     whether this role has signed that all are here
      own          what its own manifest says
      told         whether sending that to every other role was tried
      receipt      whether the next role has all pieces
      gone         whether nothing is left of the round
    """

    state: MixState
    closes: int
    expires: int
    first: bool
    all_signed: bool = False
    withdrawn: bool = False
    before: BatchStatus = BatchStatus.NONE
    quiet: bool = False
    missing: int = 0
    received: bool = False
    own: BatchStatus = BatchStatus.NONE
    told: bool = False
    receipt: bool = False
    gone: bool = False


def next_event(facts: Facts, now: int) -> Event | None:
    """What has happened and is not written down yet."""
    state, late = facts.state, now >= facts.expires
    if state in ENDS:
        return Event.GONE if facts.gone else None
    if facts.withdrawn and state in (MixState.SIGNED, MixState.OPEN):
        return Event.WITHDRAWAL
    if state is MixState.CLOSED and facts.own is not BatchStatus.NONE:
        return Event.SIGNED_OFF if facts.own is BatchStatus.PIECES else Event.TOO_FEW
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
    """Whether all that will be mixed is here."""
    if facts.first:
        return now >= facts.closes and facts.quiet
    return facts.before is BatchStatus.DESTROYED or (
        facts.before is BatchStatus.PIECES and facts.missing == 0
    )


class Work(StrEnum):
    """What brings a round on."""

    TAKE = "take"
    """Let people's bundles come."""
    STOP = "stop"
    """Take no more, and wait until all that was acknowledged can be counted."""
    RECEIVE = "receive"
    """Sign that all pieces are here."""
    MIX = "mix"
    """Open, add, order, and sign what leaves; or sign that nothing does."""
    DELIVER = "deliver"
    """Send the pieces to the next role."""
    DECLARE = "declare"
    """Sign that the round has expired."""
    SHRED = "shred"
    """Leave nothing but what was signed."""


def next_work(facts: Facts, now: int) -> Work | None:
    """What is to be done now; it may be done again, it comes to the same."""
    match facts.state:
        case MixState.OPEN if facts.first:
            return Work.TAKE if now < facts.closes else Work.STOP
        case MixState.CLOSED if facts.before is BatchStatus.PIECES and not facts.received:
            return Work.RECEIVE
        case MixState.CLOSED if facts.own is BatchStatus.NONE:
            return Work.MIX
        case MixState.MIXED if facts.told and not facts.receipt:
            return Work.DELIVER
        case MixState.EXPIRED if facts.own is BatchStatus.NONE:
            return Work.DECLARE
        case _ if facts.state in ENDS and not facts.gone:
            return Work.SHRED
    return None

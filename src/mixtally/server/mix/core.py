"""How a round moves: states as a table, what is known as plain facts, time an argument.

    SIGNED -> OPEN -> CLOSED -> MIXED -> DELIVERED -> SHREDDED
                      CLOSED -> DESTROYED (too few) -> SHREDDED
    what has not opened and is withdrawn -> WITHDRAWN -> SHREDDED
    whatever is not delivered at its expiry -> EXPIRED -> SHREDDED

Facts are read from the disk every time, so a process that starts again goes on where it was.
"""

from enum import StrEnum
from typing import NamedTuple

from mixtally.server.node.batch import Batch


class State(StrEnum):
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
    (State.SIGNED, Event.ALL_SIGNED): State.OPEN,
    (State.OPEN, Event.COMPLETE): State.CLOSED,
    (State.CLOSED, Event.SIGNED_OFF): State.MIXED,
    (State.CLOSED, Event.TOO_FEW): State.DESTROYED,
    (State.MIXED, Event.RECEIPT): State.DELIVERED,
    (State.SIGNED, Event.EXPIRY): State.EXPIRED,
    (State.OPEN, Event.EXPIRY): State.EXPIRED,
    (State.CLOSED, Event.EXPIRY): State.EXPIRED,
    (State.MIXED, Event.EXPIRY): State.EXPIRED,
    (State.SIGNED, Event.WITHDRAWAL): State.WITHDRAWN,
    (State.OPEN, Event.WITHDRAWAL): State.WITHDRAWN,
    (State.DELIVERED, Event.GONE): State.SHREDDED,
    (State.DESTROYED, Event.GONE): State.SHREDDED,
    (State.EXPIRED, Event.GONE): State.SHREDDED,
    (State.WITHDRAWN, Event.GONE): State.SHREDDED,
}
"""Every way there is."""
ENDS = (State.DELIVERED, State.DESTROYED, State.EXPIRED, State.WITHDRAWN)
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

    state: State
    closes: int
    expires: int
    first: bool
    all_signed: bool = False
    withdrawn: bool = False
    before: Batch = Batch.NONE
    quiet: bool = False
    missing: int = 0
    received: bool = False
    own: Batch = Batch.NONE
    told: bool = False
    receipt: bool = False
    gone: bool = False


def event(facts: Facts, now: int) -> Event | None:
    """What has happened and is not written down yet."""
    state, late = facts.state, now >= facts.expires
    if state in ENDS:
        return Event.GONE if facts.gone else None
    if facts.withdrawn and state in (State.SIGNED, State.OPEN):
        return Event.WITHDRAWAL
    if state is State.CLOSED and facts.own is not Batch.NONE:
        return Event.SIGNED_OFF if facts.own is Batch.PIECES else Event.TOO_FEW
    if state is State.MIXED and facts.receipt:
        return Event.RECEIPT
    if state is not State.SHREDDED and late:
        return Event.EXPIRY
    if state is State.SIGNED and facts.all_signed:
        return Event.ALL_SIGNED
    if state is State.OPEN and _complete(facts, now):
        return Event.COMPLETE
    return None


def _complete(facts: Facts, now: int) -> bool:
    """Whether all that will be mixed is here."""
    if facts.first:
        return now >= facts.closes and facts.quiet
    return facts.before is Batch.DESTROYED or (facts.before is Batch.PIECES and facts.missing == 0)


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


def work(facts: Facts, now: int) -> Work | None:
    """What is to be done now; it may be done again, it comes to the same."""
    match facts.state:
        case State.OPEN if facts.first:
            return Work.TAKE if now < facts.closes else Work.STOP
        case State.CLOSED if facts.before is Batch.PIECES and not facts.received:
            return Work.RECEIVE
        case State.CLOSED if facts.own is Batch.NONE:
            return Work.MIX
        case State.MIXED if facts.told and not facts.receipt:
            return Work.DELIVER
        case State.EXPIRED if facts.own is Batch.NONE:
            return Work.DECLARE
        case _ if facts.state in ENDS and not facts.gone:
            return Work.SHRED
    return None

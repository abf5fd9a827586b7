"""How a round moves at the collector: states as a table, what is known as plain facts.

    SIGNED -> OPEN -> RECEIVED -> COUNTED -> RELEASED, or REFUSED: numbers do not add up
              OPEN -> DESTROYED: the last hop says that nothing leaves
    what has not come whole at its expiry -> EXPIRED; what is withdrawn before it opens -> WITHDRAWN

The key and all envelopes are gone once the tally is stored; what is concluded needs the tally and
the manifests alone. Facts are read from the disk every time, so a process that starts again goes
on where it was.
"""

from enum import StrEnum
from typing import NamedTuple

from mixtally.server.node.batch_status import BatchStatus


class CollectorState(StrEnum):
    """How far a round is."""

    SIGNED = "signed"  # ``server.node.rounds.SIGNED``
    """This role has signed its sheet; not all have."""
    OPEN = "open"
    """A batch may come."""
    RECEIVED = "received"
    """All pieces are here, and the last hop has been told."""
    COUNTED = "counted"
    """The tally is stored; manifests of some hops may be missing."""
    RELEASED = "released"
    REFUSED = "refused"
    DESTROYED = "destroyed"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


class Facts(NamedTuple):
    """What is known of a round.

    where
      all_signed   whether all roles have signed the sheet
      withdrawn    whether this role has signed that the round is withdrawn
      batch        what the manifest of the last hop says
      charged      whether the batch is charged, so that its pieces may come
      missing      pieces that have not come
      receipt      whether this role has signed that all are here
      tallied      whether the tally is stored
      manifests    whether those of all hops are here
      released     whether a result is stored; None while nothing is concluded
      gone         whether neither key nor envelopes are left
    """

    state: CollectorState
    expires: int
    all_signed: bool = False
    withdrawn: bool = False
    batch: BatchStatus = BatchStatus.NONE
    charged: bool = False
    missing: int = 0
    receipt: bool = False
    tallied: bool = False
    manifests: bool = False
    released: bool | None = None
    gone: bool = False


ENDS = (
    CollectorState.RELEASED,
    CollectorState.REFUSED,
    CollectorState.DESTROYED,
    CollectorState.EXPIRED,
    CollectorState.WITHDRAWN,
)
"""How a round can end."""


def next_state(facts: Facts, now: int) -> CollectorState | None:
    """The state in which a round is by now, where that is not written down yet."""
    state, late = facts.state, now >= facts.expires
    match state:
        case CollectorState.SIGNED | CollectorState.OPEN if facts.withdrawn:
            return CollectorState.WITHDRAWN
        case CollectorState.SIGNED if late:
            return CollectorState.EXPIRED
        case CollectorState.SIGNED if facts.all_signed:
            return CollectorState.OPEN
        case CollectorState.OPEN if facts.batch is BatchStatus.DESTROYED:
            return CollectorState.DESTROYED
        case CollectorState.OPEN if facts.receipt:
            return CollectorState.RECEIVED
        case CollectorState.OPEN if late:
            return CollectorState.EXPIRED
        case CollectorState.RECEIVED if facts.tallied:
            return CollectorState.COUNTED
        case CollectorState.COUNTED if facts.released is not None:
            return CollectorState.RELEASED if facts.released else CollectorState.REFUSED
    return None


class Work(StrEnum):
    """What brings a round on; all of it may be done again, and comes to the same."""

    EXPECT = "expect"
    """Let pieces come."""
    RECEIVE = "receive"
    """Sign that all are here."""
    COUNT = "count"
    """Open, drop what is impossible, tally, store."""
    SHRED = "shred"
    """Leave neither key nor envelopes."""
    ASK = "ask"
    """Ask for the manifests that are missing."""
    CONCLUDE = "conclude"
    """See whether all numbers add up, estimate, store."""


def next_work(facts: Facts) -> Work | None:
    """What is to be done now."""
    state = facts.state
    if state is CollectorState.OPEN and facts.batch is BatchStatus.PIECES:
        return Work.EXPECT if facts.missing or not facts.charged else Work.RECEIVE
    if state is CollectorState.RECEIVED:
        return Work.COUNT
    if state in (CollectorState.COUNTED, *ENDS) and not facts.gone:
        return Work.SHRED
    if state is CollectorState.COUNTED:
        return Work.CONCLUDE if facts.manifests else Work.ASK
    return None

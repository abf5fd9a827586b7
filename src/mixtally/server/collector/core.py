"""State machine of a round at the collector.

    SIGNED -> OPEN -> RECEIVED -> COUNTED -> RELEASED, or REFUSED if numbers are inconsistent
              OPEN -> DESTROYED if the last hop sends nothing, or a hop has broken off the round
    a batch that is incomplete at its expiry -> EXPIRED; a round withdrawn early -> WITHDRAWN
    a round whose key was lost with the disk -> LOST; its privacy cost is charged

The functions here are pure: ``Collector`` reads the facts from disk for each call, so that a
restarted process continues where it stopped. The key and all envelopes are destroyed once the tally
is stored, because the estimates need only the tally and the manifests.
"""

from enum import StrEnum
from typing import NamedTuple

from mixtally.server.node.batch_status import BatchStatus


class CollectorState(StrEnum):
    """State of a round."""

    SIGNED = "signed"  # ``server.node.rounds.SIGNED``
    """The collector has signed the sheet, but not all roles have."""
    OPEN = "open"
    """The collector accepts a batch."""
    RECEIVED = "received"
    """All pieces are stored, and the receipt for the last hop is signed."""
    COUNTED = "counted"
    """The tally is stored; manifests of some hops may be missing."""
    RELEASED = "released"
    REFUSED = "refused"
    DESTROYED = "destroyed"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    LOST = "lost"


class Facts(NamedTuple):
    """The facts about a round, from which the next state and the next work follow."""

    state: CollectorState
    expires: int
    all_signed: bool = False
    """Whether all roles have signed the sheet."""
    withdrawn: bool = False
    """Whether this role has signed a withdrawal of the round."""
    lost: bool = False
    """Whether the key of the round was lost with the disk."""
    batch: BatchStatus = BatchStatus.NONE
    """The status of the batch, according to the manifest of the last hop."""
    charged: bool = False
    """Whether the batch is charged, so that its pieces are accepted."""
    missing: int = 0
    """Number of pieces not received."""
    receipt: bool = False
    """Whether this role has signed the receipt."""
    tallied: bool = False
    """Whether the tally is stored."""
    manifests: bool = False
    """Whether the manifests of all hops are known."""
    released: bool | None = None
    """Whether the stored result contains estimates; None if no result is stored."""
    destroyed: bool = False
    """Whether the key and all envelopes are destroyed."""


ENDS = (
    CollectorState.RELEASED,
    CollectorState.REFUSED,
    CollectorState.DESTROYED,
    CollectorState.EXPIRED,
    CollectorState.WITHDRAWN,
    CollectorState.LOST,
)
"""States in which a round ends."""


def next_state(facts: Facts, now: int) -> CollectorState | None:
    """Return the next state of a round, or None if the state does not change."""
    state, late = facts.state, now >= facts.expires
    match state:
        case CollectorState.SIGNED | CollectorState.OPEN if facts.withdrawn:
            return CollectorState.WITHDRAWN
        case CollectorState.SIGNED | CollectorState.OPEN | CollectorState.RECEIVED if facts.lost:
            return CollectorState.LOST
        case CollectorState.SIGNED | CollectorState.OPEN if facts.batch is BatchStatus.DESTROYED:
            return CollectorState.DESTROYED
        case CollectorState.SIGNED if late:
            return CollectorState.EXPIRED
        case CollectorState.SIGNED if facts.all_signed:
            return CollectorState.OPEN
        # Tested before the expiry, so that a batch that arrived completely is always counted, even
        # if this process notices it late.
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
    """Work that advances a round; repeating it has the same effect."""

    EXPECT = "expect"
    """Accept pieces."""
    RECEIVE = "receive"
    """Sign the receipt."""
    COUNT = "count"
    """Open the envelopes, drop invalid ones, count and store the tally."""
    SHRED = "shred"
    """Destroy the key and the envelopes."""
    ASK = "ask"
    """Request missing manifests."""
    CONCLUDE = "conclude"
    """Check that all numbers are consistent, estimate and store the result."""


def next_work(facts: Facts) -> Work | None:
    """Return the work that is due, or None."""
    state = facts.state
    if state is CollectorState.OPEN and facts.batch is BatchStatus.PIECES:
        return Work.EXPECT if facts.missing or not facts.charged else Work.RECEIVE
    if state is CollectorState.RECEIVED:
        return Work.COUNT
    if state in (CollectorState.COUNTED, *ENDS) and not facts.destroyed:
        return Work.SHRED
    if state is CollectorState.COUNTED:
        return Work.CONCLUDE if facts.manifests else Work.ASK
    return None

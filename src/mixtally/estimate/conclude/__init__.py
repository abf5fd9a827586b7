"""From plans and tallies to results: pure, and without any truth.

Whoever received the messages can call all of this; nothing else is needed, and nothing else helps.
"""

from mixtally.estimate.conclude.counts import conclude, seen_of
from mixtally.estimate.conclude.extensions import Extensions, conclude_extensions
from mixtally.estimate.conclude.memoized import MemoizedResult, conclude_memoized
from mixtally.estimate.conclude.series import conclude_series
from mixtally.estimate.conclude.vote import conclude_vote

__all__ = [
    "Extensions",
    "MemoizedResult",
    "conclude",
    "conclude_extensions",
    "conclude_memoized",
    "conclude_series",
    "conclude_vote",
    "seen_of",
]

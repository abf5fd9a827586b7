"""From plans and tallies to results: pure, and without any truth.

Whoever received the messages can call all of this; nothing else is needed, and nothing else helps.
"""

from mixtally.protocol.estimate.conclude.counts import conclude, conclude_vote, tally_of_bins
from mixtally.protocol.estimate.conclude.extensions import Extensions, conclude_extensions
from mixtally.protocol.estimate.conclude.memoized import MemoizedResult, conclude_memoized
from mixtally.protocol.estimate.conclude.series import conclude_series

__all__ = [
    "Extensions",
    "MemoizedResult",
    "conclude",
    "conclude_extensions",
    "conclude_memoized",
    "conclude_series",
    "conclude_vote",
    "tally_of_bins",
]

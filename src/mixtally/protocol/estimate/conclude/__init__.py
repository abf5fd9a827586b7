"""Results from plans and tallies, as pure functions that know no true counts.

The collector and the simulation call these functions. A plan, the tallies and the numbers of
messages received are all that a result depends on.
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

"""The question everyone is asked: a categorical one, its bins in a fixed order."""

import msgspec

from mixtally.errors import ParameterError, PlanError

MOST_BINS = 10_000_000


def checked_bins(bins: int) -> int:
    """``bins`` itself when it lies in [2, 10^7]; raises ParameterError otherwise."""
    if not 2 <= bins <= MOST_BINS:
        raise ParameterError(
            "bins",
            wanted=f"an integer in [2, {MOST_BINS:,}]",
            got=f"{bins:,}",
            do="one bin has nothing to tell; hash a larger domain into fewer bins",
        )
    return bins


class Question(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A categorical question: each person's value falls in exactly one of ``bins`` bins.

    ``labels`` names the bins in order; None leaves them numbered from 0.
    Raises ParameterError for bins outside [2, 10^7], PlanError for labels that do not fit.
    """

    name: str
    bins: int
    labels: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        checked_bins(self.bins)
        if self.labels is None:
            return
        distinct = len(set(self.labels))
        if len(self.labels) != self.bins or distinct != self.bins or "" in self.labels:
            raise PlanError(
                f"labels of question {self.name!r}",
                wanted=f"{self.bins:,} distinct, non-empty labels, one a bin",
                got=f"{len(self.labels):,} labels, {distinct:,} distinct",
                do="name every bin once",
            )

    def label(self, bin_index: int) -> str:
        """What bin ``bin_index`` is called."""
        return self.labels[bin_index] if self.labels else str(bin_index)

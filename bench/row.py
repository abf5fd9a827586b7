"""A line of the table: what was measured, and beside which target."""

from typing import NamedTuple

from bench.clock import QUICK


class BenchmarkRow(NamedTuple):
    """A benchmark.

    where
      what       was measured
      measured   in words
      ratio      to what, in words; empty for none
      got        the same ratio as a number, larger is better; None where there is no target
      least      that is to be reached, and ``stretch`` that is hoped for
    """

    what: str
    measured: str
    ratio: str = ""
    got: float | None = None
    least: float | None = None
    stretch: float | None = None

    @property
    def verdict(self) -> str:
        """What is said beside the target."""
        if self.got is None or self.least is None or QUICK:
            return ""
        aims = f"{self.least:.4g}" + (f" / {self.stretch:.4g}" if self.stretch else "")
        return aims + "  NOT REACHED" * self.is_missed

    @property
    def is_missed(self) -> bool:
        """Whether there is a target, and the ratio lies below it; numbers of a trial mean none."""
        if self.got is None or self.least is None or QUICK:
            return False
        return self.got < self.least


def build_row(
    what: str,
    measured: str,
    of: str,
    got: float,
    least: float | None,
    stretch: float | None = None,
) -> BenchmarkRow:
    """A line with a target, if there is one; ``of`` follows the number."""
    digits = 0 if got >= 100 else 1 if got >= 10 else 2
    return BenchmarkRow(what, measured, f"{got:,.{digits}f} {of}", got, least, stretch)

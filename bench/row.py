"""A row of the benchmark table: a measurement and its target."""

from typing import NamedTuple

from bench.clock import QUICK


class BenchmarkRow(NamedTuple):
    """A benchmark.

    Attributes
    ----------
    what : str
        The name of the measurement.
    measured : str
        The measured value, in words.
    ratio : str
        The ratio to the reference, in words; empty for none.
    got : float or None
        The same ratio as a number; larger is better. None without a target.
    least, stretch : float or None
        The ratio that must be reached, and the one that is hoped for.
    """

    what: str
    measured: str
    ratio: str = ""
    got: float | None = None
    least: float | None = None
    stretch: float | None = None

    @property
    def verdict(self) -> str:
        """The target, and whether the ratio is below it."""
        if self.got is None or self.least is None or QUICK:
            return ""
        aims = f"{self.least:.4g}" + (f" / {self.stretch:.4g}" if self.stretch else "")
        return aims + "  NOT REACHED" * self.is_missed

    @property
    def is_missed(self) -> bool:
        """Whether the ratio is below its target; never in quick runs, which mean nothing."""
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
    """Return a row with a target, if there is one; ``of`` follows the number."""
    digits = 0 if got >= 100 else 1 if got >= 10 else 2
    return BenchmarkRow(what, measured, f"{got:,.{digits}f} {of}", got, least, stretch)

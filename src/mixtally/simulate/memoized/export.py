"""What was played as CSV, all digits kept."""

from mixtally.report import texts
from mixtally.simulate.memoized.losses import Facts


def csv_text(facts: Facts) -> str:
    """The estimates, one line a bin or word, largest first."""
    return texts.csv_text(ranked(facts))


def ranked(facts: Facts) -> list[Facts]:
    """The estimates, largest first."""
    return sorted(facts["estimates"], key=lambda row: -row["estimate"])

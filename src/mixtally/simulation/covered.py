"""Coverage of intervals in a simulation: how many hold the true value, and how often so few do."""


def covered_text(held: int, of: int, level: float, what: str = "true count") -> str:
    """Return sentences that say how many of the intervals cover, and how rare as few are.

    Parameters
    ----------
    held, of : int
        Intervals that cover the true value, and all intervals.
    level : float
        Confidence level of each interval alone.
    what : str
        The name of the true value.
    """
    said = f"{held:,} of the {of:,} intervals cover the {what}; {level * of:.4g} are expected"
    most = most_often(held, of, level)
    if most >= 1.0:
        return f"{said}."
    return (
        f"{said}. As few or fewer happen in at most {_percent(most)} of cases, however the numbers "
        "depend on each other."
    )


def most_often(held: int, of: int, level: float) -> float:
    """Bound the chance that ``held`` or fewer intervals cover, by Markov's inequality.

    Each of ``of`` intervals misses with a chance of at most 1 - level, so of (1 - level) miss on
    average at most. The chance that m or more miss is at most that average over m, whatever the
    dependence between intervals: counts over planes, for example, share their messages.
    """
    missed = of - held
    return min(1.0, (1.0 - level) * of / missed) if missed else 1.0


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share < 0.1 else f"{100 * share:.0f} %"

"""How many intervals cover the true count, beside what chance alone would do."""


def covered_text(held: int, of: int, level: float, what: str = "true count") -> str:
    """A sentence: so many of the intervals cover, so many are expected, how rare fewer are.

    The chance is that of as many or fewer among independent intervals that just keep their level:
    intervals of whole numbers keep more, and bins lean on each other a little.
    """
    said = f"{held:,} of the {of:,} intervals cover the {what}; {level * of:.4g} are expected"
    if held >= level * of:
        return f"{said}."
    chance = _percent(at_most_by_chance(held, of, level))
    return f"{said}, and {held:,} or fewer would come about by chance in {chance} of cases."


def at_most_by_chance(held: int, of: int, level: float) -> float:
    """P(Binomial(of, level) <= held)."""
    from scipy.special import bdtr  # slow to import

    return float(bdtr(held, of, level))


def _percent(share: float) -> str:
    if share < 0.001:
        return "less than 0.1 %"
    return f"{100 * share:.1f} %" if share < 0.1 else f"{100 * share:.0f} %"

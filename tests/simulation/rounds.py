"""Rounds of one part, the mechanism that the messages which came are of, and a law by hand."""

import math

from mixtally.lab.simulation.play import play_parts
from mixtally.model.contract import BlanksRecipe


def tally_of(part, records, chance, *told, row=1, **how):
    """The tally of one round through ``row`` mixes."""
    return play_parts([part], row, [records], chance, *told, **how).tallies[0]


def fakes_in(part, tally, people):
    """How many of the messages are nobody's record."""
    return tally.messages - people * part.repeats


def came(part, tally, people, row=1, crowd=0):
    """The mechanism with the fakes that came; all ``row`` mixes drew."""
    fakes = fakes_in(part, tally, people)
    if isinstance(part.recipe, BlanksRecipe):
        fakes = row * part.recipe.count
    return part.mechanism(fakes=fakes, crowd=crowd, mixes=row)


def pair_law(plan):
    """log P of the counts of two cells, the person's record in the first or in the second one.

    Written anew from the definition: everybody's coins, and where each fake falls, so that counts
    of cells are multinomial with N trials; no line shared with the package's price.
    """
    (part,) = plan.parts
    assert part.own.whole == 0
    trials, share = plan.users, part.own.coin / 2**64 / part.bins
    mean = trials * share
    reach = math.ceil(9 * math.sqrt(mean)) + 12
    low, high = max(0, math.floor(mean) - reach), math.ceil(mean) + reach
    rest = math.log1p(-2 * share)

    def log_p(a, b):
        if a < 0 or b < 0:
            return None
        other = trials - a - b
        out = math.lgamma(trials + 1) - math.lgamma(a + 1) - math.lgamma(b + 1)
        return out - math.lgamma(other + 1) + (a + b) * math.log(share) + other * rest

    cells = [(a, b) for a in range(low, high) for b in range(low, high)]
    laws = []
    for mine in ((1, 0), (0, 1)):
        raw = {cell: log_p(cell[0] - mine[0], cell[1] - mine[1]) for cell in cells}
        laws.append({cell: p for cell, p in raw.items() if p is not None})
    return laws

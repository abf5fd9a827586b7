"""Rounds of one part, and the mechanism that the messages which came are of."""

from mixtally.records.contract import BlanksRecipe
from mixtally.simulation.play import play_parts


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

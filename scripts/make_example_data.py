"""Make the example survey: 2,000 people whom this program invents, the same ones every time.

    python scripts/make_example_data.py

Nobody was asked. Ages, tastes and habits hang together a little, so that a table of two columns has
something to show.
"""

from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

from mixtally.lab.simulation.seeded import SeededChance

TARGET = Path(__file__).parents[1] / "src/mixtally/lab/data/files/example_survey.csv"
PEOPLE, SEED = 2_000, 1
AGES = ((18, 29), (30, 44), (45, 59), (60, 89))
FRUIT = {
    "apple": 30, "banana": 22, "cherry": 14, "grape": 10, "mango": 9, "orange": 8, "pear": 5,
    "quince": 2,
}  # fmt: skip
ANSWERS = ({"yes": 62, "no": 25, "unsure": 13}, {"yes": 38, "no": 50, "unsure": 12})
"""Should the market open on Sundays? Of people below 45, and of others."""
DRINKS = {"tea": 0.55, "coffee": 0.6, "cocoa": 0.25, "juice": 0.3}


class Dice:
    """Draws of one seed."""

    def __init__(self, seed: int) -> None:
        self._chance = SeededChance(seed)

    def below(self, bound: int) -> int:
        """A number in [0, bound), uniform but for the last of 64 bits."""
        return int(self._chance.words(1)[0]) * bound >> 64

    def happens(self, probability: float) -> bool:
        return self.below(1000) < 1000 * probability

    def one_of(self, weights: dict[str, int]) -> str:
        """A key, as often as its weight says."""
        drawn = self.below(sum(weights.values()))
        ends = accumulate(weights.values())
        return next(key for key, end in zip(weights, ends, strict=True) if drawn < end)


def people(dice: Dice) -> Iterator[str]:
    """A row a person."""
    for _ in range(PEOPLE):
        group = dice.below(len(AGES))
        low, high = AGES[group]
        likes = [drink for drink, share in DRINKS.items() if dice.happens(share)] or ["water"]
        cells = [
            low + dice.below(high - low + 1),
            f"{low}-{high}",
            dice.one_of(FRUIT),
            dice.one_of(ANSWERS[group > 1]),
            ";".join(likes),
            int(dice.happens(0.18)),
            int(dice.happens((0.45, 0.75, 0.8, 0.6)[group])),
            int(dice.happens((0.6, 0.5, 0.35, 0.2)[group])),
        ]
        yield ",".join(map(str, cells))


def survey() -> str:
    """The whole file."""
    head = "age,age_group,fruit,answer,likes,smokes,drives,cycles"
    return "\n".join([head, *people(Dice(SEED))]) + "\n"


if __name__ == "__main__":
    TARGET.write_text(survey(), encoding="ascii")

"""Make the example survey: 2,000 invented people, the same ones in every run.

    python scripts/make_example_data.py

The data are fictitious. Ages, tastes and habits are slightly correlated, so that a table of two
columns shows something.
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
"""The weights of the answers to "Should the market open on Sundays?", below 45 years and above."""
DRINKS = {"tea": 0.55, "coffee": 0.6, "cocoa": 0.25, "juice": 0.3}


class Dice:
    """A source of seeded random draws."""

    def __init__(self, seed: int) -> None:
        self._chance = SeededChance(seed)

    def below(self, bound: int) -> int:
        """Return a number in [0, bound), uniform up to rounding of 64 bits."""
        return int(self._chance.words(1)[0]) * bound >> 64

    def happens(self, probability: float) -> bool:
        """Return True with the given probability."""
        return self.below(1000) < 1000 * probability

    def one_of(self, weights: dict[str, int]) -> str:
        """Return a random key, with probabilities proportional to the weights."""
        drawn = self.below(sum(weights.values()))
        ends = accumulate(weights.values())
        return next(key for key, end in zip(weights, ends, strict=True) if drawn < end)


def people(dice: Dice) -> Iterator[str]:
    """Yield one CSV row for each person."""
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
    """Return the whole CSV file."""
    head = "age,age_group,fruit,answer,likes,smokes,drives,cycles"
    return "\n".join([head, *people(Dice(SEED))]) + "\n"


if __name__ == "__main__":
    TARGET.write_text(survey(), encoding="ascii")

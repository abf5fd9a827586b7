"""Example data about people who do not exist.

The pages of docs/ read these files, and ``mixtally example`` writes them. Every call returns the
same bytes.
"""

import csv
from importlib.resources import files

LABELS = {
    "fruit": ("apple", "banana", "cherry", "grape", "mango", "orange", "pear", "quince"),
    "answer": ("yes", "no", "unsure"),
    "age_group": ("18-29", "30-44", "45-59", "60-89"),
    "likes": ("tea", "coffee", "cocoa", "juice", "water"),
}
"""The possible answers, for each column of the survey that has labels."""

_COLORS = ("red", "blue", "green")
_WEEKS, _DIARISTS, _HOMES = 3, 1_500, 2_000


def survey() -> bytes:
    """Return the survey: 2,000 rows with age, taste and habits (see ``files/PROVENANCE.md``)."""
    return _read_shipped_file("example_survey.csv")


def people() -> list[dict[str, str]]:
    """Return the rows of the survey, each as a dictionary by column."""
    return list(csv.DictReader(survey().decode("ascii").splitlines()))


def example_files() -> dict[str, bytes]:
    """Return the content of every example file by its name.

    The files are:

        survey.csv     the survey
        diary.csv      1,500 of its people in each of three weeks; every 7th changes the color
        homes.csv      2,000 places, spread evenly over a box of 2 by 4 degrees
        counted.csv    number of people who gave each answer
        fruits.txt, answers.txt, drinks.txt, colors.txt    labels, one a line
        words.txt      answers to look for, one of which nobody gave
        network.toml   three mixes and a collector, with keys that nobody has
        approval.toml  purpose, legal basis and sign-off of a collection that does not exist
    """
    labels = {"fruits": "fruit", "answers": "answer", "drinks": "likes"}
    return {
        "survey.csv": survey(),
        "diary.csv": _lines(["who,week,color,likes,age", *_diary()]),
        "homes.csv": _lines(["lat,lon", *_homes()]),
        "counted.csv": _lines(["answer,people", "yes,6000000000", "no,3999999999"]),
        **{f"{name}.txt": _lines(LABELS[column]) for name, column in labels.items()},
        "colors.txt": _lines(_COLORS),
        "words.txt": _lines([*LABELS["answer"], "perhaps"]),
        "network.toml": _read_shipped_file("example_network.toml"),
        "approval.toml": _read_shipped_file("example_approval.toml"),
    }


def _diary() -> list[str]:
    crowd = people()[:_DIARISTS]
    return [
        f"p{i},{week},{_COLORS[(i + week * (i % 7 == 0)) % 3]},{one['likes']},{one['age']}"
        for week in range(1, _WEEKS + 1)
        for i, one in enumerate(crowd)
    ]


def _homes() -> list[str]:
    """Return places that fill a box evenly.

    The fractional parts of the multiples of two suitable irrational numbers fill the unit square.
    """
    # The factors are the inverses of the plastic number and of its square.
    points = [(i * 0.7548776662 % 1.0, i * 0.5698402910 % 1.0) for i in range(_HOMES)]
    return [f"{41 + 2 * up:.4f},{-75 + 4 * across:.4f}" for up, across in points]


def _lines(texts: tuple[str, ...] | list[str]) -> bytes:
    return ("\n".join(texts) + "\n").encode("ascii")


def _read_shipped_file(name: str) -> bytes:
    return (files("mixtally.lab.data") / "files" / name).read_bytes()

"""The catalogue of published formulas for the noise that a guarantee needs.

``mixtally check formula`` lists and audits the formulas of the catalogue.
"""

from collections.abc import Callable
from dataclasses import dataclass

from mixtally.errors import not_one_of
from mixtally.lab.formulas import fakes_per_bin, notes, repeats, shuffle_bounds, sufficient, voting

FLIP, FAKES = "flip probability", "fakes"
"""What a formula computes. The kinds below are parameters of the distribution of a bin's fakes."""
PER_BIN, ABSENT, MODE = "fakes per bin", "absent fakes per bin", "mode of the fakes per bin"
_NOTES = "Zhilyaev, Notes (2020)"
_SUFFICIENT = "Zhilyaev, Zeber, Sufficient Differential Privacy (2017)"
_REPEATS = "Zhilyaev, Zeber, K-Randomization (2015)"
_HISTOGRAMS = (
    "Balcer, Cheu, Separating Local and Shuffled Differential Privacy via Histograms (2020)"
)
_COUNTING = "Ghazi, Kumar, Manurangsi, Pagh, Private Counting from Anonymous Messages (2020)"
_AUGMENTED = "Murakami, Sei, Eriguchi, Augmented Shuffle Protocols (2025)"


@dataclass(frozen=True, slots=True)
class Formula:
    """A published formula.

    Attributes
    ----------
    computes : str
        The meaning of the value of ``compute``: a flip probability, a number of fakes, or a
        parameter of the distribution of the fakes of a bin.
    protocol : str
        The mechanism whose exact delta is compared, a key of ``exact_delta.EXACT_DELTAS``.
    needs : tuple of str
        The parameters in addition to epsilon and delta: users, fakes, bins, bits, repeats.
    """

    name: str
    source: str
    computes: str
    protocol: str
    needs: tuple[str, ...]
    compute: Callable[..., float]


FORMULAS: tuple[Formula, ...] = (
    Formula(
        "notes-4.48", f"{_NOTES}, (4.48), section 4.4", FLIP, "single bit",
        ("users", "fakes"), notes.single_bit,
    ),
    Formula(
        "notes-5.10", f"{_NOTES}, (5.10)", FAKES, "clear-uniform",
        ("bins",), notes.clear_uniform,
    ),
    Formula(
        "notes-5.16", f"{_NOTES}, (5.12), (5.16)", FLIP, "flip",
        ("users", "fakes"), notes.flip,
    ),
    Formula("notes-5.26", f"{_NOTES}, (5.26)", FLIP, "flip-blank", ("fakes",), notes.flip_blank),
    Formula(
        "sufficient-4.2", f"{_SUFFICIENT}, (4.2)", FLIP, "vectors, no mix",
        ("bits",), sufficient.local,
    ),
    Formula(
        "sufficient-3.12", f"{_SUFFICIENT}, (3.12)", FLIP, "vectors",
        ("users", "bits"), sufficient.three_sigma,
    ),
    Formula(
        "sufficient-3.15", f"{_SUFFICIENT}, (3.15)", FLIP, "vectors",
        ("users", "bits"), sufficient.three_sigma_simplified,
    ),
    Formula(
        "sufficient-5", f"{_SUFFICIENT}, section 5", FLIP, "flip",
        ("users",), sufficient.three_sigma_one_hot,
    ),
    Formula("repeats-4.45", f"{_REPEATS}, (4.45)", FLIP, "single bit", ("users",),
        repeats.single_bit),
    Formula(
        "repeats-5.24", f"{_REPEATS}, (5.24)", FLIP, "repeated bit",
        ("users", "repeats"), repeats.repeated_bit,
    ),
    Formula(
        "voting", "Side Notes on Differential Privacy, section 5", FLIP, "one-hot, no mix",
        (), voting.flip_probability,
    ),
    Formula(
        "cheu-zhilyaev",
        "Cheu, Zhilyaev, Differentially Private Histograms in the Shuffle Model from Fake Users "
        "(2022), Claim 3.2",
        FLIP, "flip-blank", ("fakes",), shuffle_bounds.cheu_zhilyaev,
    ),
    Formula(
        "clones", "Feldman, McMillan, Talwar, Hiding Among the Clones (2021), Theorem 3.1",
        FLIP, "flip", ("users",), shuffle_bounds.clones,
    ),
    Formula(
        "blanket", "Balle, Bell, Gascon, Nissim, The Privacy Blanket of the Shuffle Model (2019)",
        FLIP, "flip", ("users",), shuffle_bounds.blanket,
    ),
    Formula(
        "luo-wang-yi",
        "Luo, Wang, Yi, Frequency Estimation in the Shuffle Model with Almost a Single Message "
        "(2022), as in their programs",
        PER_BIN, "one-hot, binomial fakes", ("users",), fakes_per_bin.luo_wang_yi,
    ),
    Formula(
        "balcer-cheu", f"{_HISTOGRAMS}, Theorem 3.2",
        ABSENT, "one-hot, binomial fakes", ("users",), fakes_per_bin.balcer_cheu,
    ),
    Formula(
        "balcer-cheu-bit", f"{_HISTOGRAMS}, Theorem 3.1",
        ABSENT, "bit, binomial fakes", ("users",), fakes_per_bin.balcer_cheu_bit,
    ),
    Formula(
        "poisson", f"{_COUNTING}, Theorem 11", PER_BIN, "bit, Poisson fakes", (),
            fakes_per_bin.poisson
    ),
    Formula(
        "negative-binomial", f"{_COUNTING}, Theorem 13",
        PER_BIN, "bit, negative binomial fakes", (), fakes_per_bin.negative_binomial,
    ),
    Formula(
        "sageo", f"{_AUGMENTED}, SAGeo-Shuffle, all messages kept",
        MODE, "one-hot, two-sided geometric fakes", (), fakes_per_bin.two_sided,
    ),
    Formula(
        "s1geo", f"{_AUGMENTED}, S1Geo-Shuffle",
        PER_BIN, "sampled one-hot, geometric fakes", (), fakes_per_bin.geometric,
    ),
)  # fmt: skip


def formula_named(name: str) -> Formula:
    """Return the formula called ``name``; raise ParameterError for an unknown name."""
    for formula in FORMULAS:
        if formula.name == name:
            return formula
    raise not_one_of("formula", name, [formula.name for formula in FORMULAS])

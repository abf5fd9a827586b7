"""Findings of K-Randomization 001 (2016): the crowd with the steepest step of the sum.

The document also has lemmas on ratios of sums. All are tested by enumeration.
"""

from itertools import combinations, product

from literature.finding import Finding, Steps, claim, gather
from literature.small import sum_pmf
from mixtally.report.curves import Chart

DOCUMENT = "001"
CROWDS = ((6, 0.1), (9, 0.25), (12, 0.4))
"""People and flip probability of the enumerated crowds."""


def findings(progress: Steps) -> list[Finding]:
    """Return the findings on the claim, and on the lemmas of its proof."""
    return gather((_steepest, _lemmas), progress)


def charts() -> list[Chart]:
    """Return no charts, because the document has no figures."""
    return []


def _steepest() -> list[Finding]:
    falls = cases = 0
    for n, q in CROWDS:
        tables = [sum_pmf(m, n - m, q) for m in range(n + 1)]
        top = tables[n][1:] / tables[n][:-1]
        for table in tables[:-1]:
            falls += int((table[1:] / table[:-1] > top * (1 + 1e-12)).sum())
            cases += n
    return [
        claim(
            DOCUMENT,
            "(3.2)",
            "all ones maximize the step from s - 1 to s: violations",
            falls == 0,
            float(falls),
            f"{cases} cases by enumeration",
        ),
    ]


def _lemmas() -> list[Finding]:
    found = []
    for place, what, lemma in (
        ("lemma 4.1", "a ratio of sums is at most the largest of the ratios", largest_ratio),
        ("lemma 4.2", "weights that lean to the larger ratios raise the whole", leaning_weights),
        ("lemma 4.3", "a step keeps its order when one more bit is added", one_more_bit),
    ):
        wrong, cases = lemma()
        note = f"{cases:,} cases in small integers, all that meet the conditions, exact"
        found.append(claim(DOCUMENT, place, f"{what}: violations", wrong == 0, float(wrong), note))
    return found


def largest_ratio() -> tuple[int, int]:
    """Return the violations and the cases of lemma 4.1."""
    wrong = cases = 0
    for a in product((-2, 1, 5), repeat=3):
        for b in product((1, 2, 7), repeat=3):
            wrong += all(sum(a) * y > x * sum(b) for x, y in zip(a, b, strict=True))
            cases += 1
    return wrong, cases


def leaning_weights() -> tuple[int, int]:
    """Return the violations and the cases of lemma 4.2."""
    wrong = cases = 0
    for values, length in (((1, 2, 5), 2), ((1, 3), 3)):
        columns = list(product(values, repeat=length))
        falling = [pair for pair in product(columns, repeat=2) if _falling(*pair)]
        for (a, b), (above, below) in product(falling, repeat=2):
            wrong += _dot(a, above) * _dot(b, below) < _dot(b, above) * _dot(a, below)
            cases += 1
    return wrong, cases


def one_more_bit() -> tuple[int, int]:
    """Return the violations and the cases of lemma 4.3."""
    wrong = cases = 0
    for a, a2, x, y in product((1, 2, 5), repeat=4):
        for b, b2, c, c2 in product((0, 1, 4), repeat=4):
            if a * c2 >= a2 * c and a * b2 <= a2 * b and b * c2 >= b2 * c:
                first, second = (a * x + b * y, c * x + a * y), (a2 * x + b2 * y, c2 * x + a2 * y)
                wrong += first[0] * second[1] < second[0] * first[1]
                cases += 1
    return wrong, cases


def _falling(above: tuple[int, ...], below: tuple[int, ...]) -> bool:
    """Return whether the ratios above / below never increase."""
    pairs = zip(above, below, strict=True)
    return all(x * y2 >= x2 * y for (x, y), (x2, y2) in combinations(pairs, 2))


def _dot(a: tuple[int, ...], b: tuple[int, ...]) -> int:
    return sum(x * y for x, y in zip(a, b, strict=True))

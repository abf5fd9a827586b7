"""Bugs planted in the divergences of distributions are noticed by the comparison with the
enumeration.

The first test shows that the same comparisons pass without a bug. A bug that only widens an upper
end that is no exact distribution, such as fewer free blanks than there are, is safe and passes
unseen.
"""

import pytest

from mixtally.errors import AccountingError
from mixtally.ground import tails
from mixtally.privacy.divergence import flip_uniform, k_hot, one_hot, single_bit, vectors
from mixtally.privacy.numerics import blanket, saddle_line
from mixtally.privacy.numerics import saddle_point as saddle_point_bounds
from mixtally.privacy.numerics.binomial_pairs import Pair
from mixtally.privacy.numerics.bracket import Bracket
from mixtally.privacy.numerics.flip_ratios import Orbit
from mixtally.privacy.numerics.saddle_line import Care
from privacy import comparisons

EPSILONS = (0.1, 1.0)


def few(suite, *words):
    """Comparisons whose label holds one of the words, at a few thresholds and epsilons."""
    return [
        one._replace(thresholds=comparisons.FEW[1::2], epsilons=EPSILONS)
        for one in suite
        if any(word in one.label for word in words)
    ]


SUITES = {
    "bits": few(comparisons.single_bits(1, [(2, 1), (4, 1), (5, 0)]), ""),
    "twice": few(comparisons.single_bits(2, [(3, 1)]), ""),
    "crowd": few(comparisons.crowds(sums=False), "bins=3 n=2", "bins=3 n=4"),
    "uniform": few(comparisons.uniform_fakes(), "bins=3 fakes=3", "bins=2 fakes=2"),
    "zeros": few(comparisons.vectors_of_bits(), "among zeros bits=2 n=3", "zeros bits=3 n=4"),
    "orbits": few(comparisons.orbits_of_bits(), ""),
    "vectors": few(comparisons.vectors_of_bits(), "dataset bits=1 n=2", "dataset bits=2 n=3"),
    "two-hot": few(comparisons.k_hots(4), "fakes=0", "fakes=2"),
}
SUMS = few(comparisons.crowds(sums=True), "bins=3 n=3 fakes=0")


def noticed(suite, *, lower=True):
    """Whether a number does not hold, or stops the work."""
    try:
        return any(fault for one in suite for fault in one.faults(lower=lower))
    except (AccountingError, IndexError, ValueError):
        return True


@pytest.mark.parametrize("suite", SUITES)
def test_without_a_bug_every_comparison_passes(suite):
    assert SUITES[suite]
    assert not noticed(SUITES[suite])


def test_without_a_bug_sums_pass():
    assert SUMS
    assert not noticed(SUMS)


@pytest.mark.parametrize("keep", [0, 1], ids=["one way", "the other way"])
@pytest.mark.parametrize(
    ("module", "suite"), [(single_bit, "bits"), (single_bit, "twice"), (vectors, "zeros")]
)
def test_one_direction_alone_is_noticed(plant, module, suite, keep):
    plant(module, "larger", lambda _honest, *ends: ends[keep])
    assert noticed(SUITES[suite])


@pytest.mark.parametrize(
    "change",
    [
        lambda honest, pmf, cut, p, q, _n, error: honest(pmf, cut, p, q, 0, error),
        lambda honest, pmf, cut, _p, _q, n, error: honest(pmf, cut, 1.0, 0.0, n, error),
        lambda honest, pmf, cut, p, q, n, error: honest(pmf, cut, p, q, n + 1, error),
        lambda honest, pmf, cut, p, q, n, _: Pair(honest(pmf, cut, p, q, n).p, _off(pmf, n), cut),
    ],
    ids=["own bit missing", "own bit not flipped", "own bit twice", "missing on one side"],
)
@pytest.mark.parametrize("suite", ["bits", "twice"])
def test_a_wrong_own_bit_is_noticed(plant, change, suite):
    plant(single_bit, "own_bits", change)
    assert noticed(SUITES[suite])


def _off(pmf, copies):
    return tails.np.pad(pmf, (0, copies))


def test_cells_that_keep_the_records_they_should_drop_are_noticed(plant):
    """The bound of a cell then has more records than its points share."""

    def reversed_cells(honest, price, *rest):
        return honest(lambda c, at: price(tuple((m, n) for n, m in c), at), *rest)

    plant(one_hot, "worst", reversed_cells)
    assert noticed(SUMS, lower=False)


def test_the_same_on_a_line_is_noticed(plant):
    def reversed_cells(honest, price, *rest):
        return honest(lambda least, last: price(last, least), *rest)

    plant(single_bit, "worst_on_line", reversed_cells)
    assert noticed(SUITES["bits"], lower=False)


def test_a_worst_case_that_looks_at_one_corner_is_noticed(plant):
    plant(single_bit, "worst_on_line", lambda _honest, price, *_: price(4, 4))
    assert noticed(SUITES["bits"])


@pytest.mark.parametrize("factor", [2.0, 1.5])
def test_a_larger_blanket_than_there_is_is_noticed(plant, factor):
    def larger_one(honest, pairs, users, fakes, share, *rest):
        return honest(pairs, users, fakes, min(factor * share, 0.999), *rest)

    plant(blanket, "upper", larger_one)
    plant(one_hot, "_without_common_bit", lambda *_: 0.0)
    assert noticed(SUITES["crowd"])


@pytest.mark.parametrize(
    "change",
    [
        lambda honest, n, fakes, t, e, *_: honest(n + 3, fakes, t, e),
        lambda honest, n, fakes, t, e, *_: honest(n, fakes + 2, t, e),
        lambda honest, n, fakes, t, e, *_: honest(n, fakes, t, 1.3 * e),
    ],
    ids=["three people more", "two fakes more", "a larger epsilon"],
)
def test_a_blanket_with_a_wrong_argument_is_noticed(plant, change):
    plant(one_hot, "blanket_upper", change)
    plant(one_hot, "_without_common_bit", lambda *_: 0.0)
    assert noticed(SUITES["crowd"])


@pytest.mark.parametrize(
    "change",
    [
        lambda honest, o, q, grow: honest(Orbit(o.only_u, o.only_v, 0), q, grow),
        lambda honest, o, q, grow: honest(Orbit(o.only_v, o.only_u, o.both), q, grow),
        lambda honest, o, q, grow: honest(o, q / (1.0 - q), grow),
        lambda honest, o, q, _grow: honest(o, q, 1.0),
        lambda honest, o, q, grow: honest(o, q, grow * (1 + 1e-2)),
    ],
    ids=["common bits ignored", "u for v", "q/p for q", "no growth", "more growth"],
)
def test_wrong_weights_are_noticed(plant, change):
    plant(vectors, "flip_distribution", change)
    assert noticed(SUITES["orbits"])


@pytest.mark.parametrize(
    "left",
    [
        lambda o: not (o.only_u and o.only_v),
        lambda o: o.both > 0,
        lambda o: sum(o) == 1,
    ],
    ids=["one side only", "none apart", "single bits only"],
)
def test_two_hot_orbits_left_out_are_noticed(plant, left):
    plant(k_hot, "orbits", lambda honest, *given: [o for o in honest(*given) if left(o)])
    assert noticed(SUITES["two-hot"])


@pytest.mark.parametrize("factor", [0.5, 0.9])
def test_a_blanket_diluted_more_than_its_divisor_says_is_noticed(plant, factor):
    plant(blanket, "diluted", lambda honest, pmf, share: honest(pmf, factor * share))
    plant(vectors, "worst_homogeneous", lambda *_: Bracket(0.0, 0.0))
    assert noticed(SUITES["vectors"])


@pytest.mark.parametrize("suite", ["uniform", "zeros", "two-hot"])
@pytest.mark.parametrize("more", [-1, 1], ids=["the own record missing", "a record more"])
def test_a_wrong_number_of_records_is_noticed(plant, suite, more):
    for module in (flip_uniform, vectors, k_hot):
        plant(
            module,
            "saddle_point_bounds",
            lambda honest, pmf, n: honest(pmf, max(1, n + more)),
        )
    assert noticed(SUITES[suite])


@pytest.mark.parametrize("more", [-1, 1])
def test_a_wrong_number_of_bins_is_noticed(plant, more):
    plant(flip_uniform, "_branches", lambda honest, bins, *given: honest(bins + more, *given))
    assert noticed(SUITES["uniform"])


@pytest.mark.parametrize(
    ("name", "value"),
    [("EXACT", Care(9.0, 2.0)), ("SMOOTHING", 0.5), ("EXACT", Care(0.5, 30.0))],
    ids=["aliases", "a wide Gaussian", "cut early"],
)
@pytest.mark.parametrize("suite", ["zeros", "two-hot", "uniform"])
def test_a_coarse_integral_is_noticed(monkeypatch, suite, name, value):
    for home in (saddle_line, saddle_point_bounds):
        monkeypatch.setattr(home, name, value, raising=home is saddle_point_bounds)
    if value != Care(9.0, 2.0):
        monkeypatch.setattr(saddle_point_bounds, "WORTH_IT", 0)
    assert noticed(SUITES[suite])


@pytest.mark.parametrize("share", [1 - 1e-2, 1 - 1e-3, 1 + 2e-3])
def test_an_integral_a_hair_wrong_is_noticed(plant, share):

    def scaled(honest, self, spread):
        value, smoothed, cut = honest(self, spread)
        return value * share, smoothed, cut

    plant(saddle_line.Saddle, "integral", scaled)
    assert noticed(SUITES["zeros"])
    assert noticed(SUITES["uniform"])

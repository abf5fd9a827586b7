"""Central baselines: OpenDP's maps keep the guarantee, its draws have the stated laws."""

import itertools
import math
import sys

import numpy as np
import pytest
from scipy import special

from mixtally.accounting.baselines import central_standard_error, local_standard_error
from mixtally.lab.simulation import central as peers
from mixtally.model.guarantee import Guarantee

FAR = 7.0
"""Standard errors of a statistic before a test fails. OpenDP takes no seed."""
EPSILONS = (0.01, 0.1, 1.0, 3.0, 20.0)
PAIRS = [(0.01, 1e-15), (0.1, 1e-6), (1.0, 1e-6), (1.0, 0.1), (20.0, 1e-15)]
NOISES = ("laplace", "gaussian")


def built(name, epsilon, delta=1e-6, bins=10, level=0.95):
    if name == "gaussian":
        return peers.gaussian(epsilon, delta, bins, level)
    make = {"laplace": peers.discrete_laplace, "exponential": peers.exponential}[name]
    return make(epsilon, bins, level)


def approximate(scale, delta):
    dp = peers.load_opendp()
    whole = dp.combinators.make_zCDP_to_approxDP(peers.gaussian_measurement(scale))
    return dp.combinators.make_fix_delta(whole, delta)


def stated(name, scale, delta):
    """(epsilon, delta) by OpenDP's map for a substituted record."""
    if name == "gaussian":
        return approximate(scale, delta).map(math.sqrt(2.0))
    if name == "laplace":
        return peers.laplace_measurement(scale).map(2), 0.0
    return peers.selection_measurement(scale).map(1), 0.0


@pytest.mark.parametrize("name", ["laplace", "gaussian", "exponential"])
@pytest.mark.parametrize(("epsilon", "delta"), PAIRS)
def test_the_map_keeps_the_guarantee_and_a_little_less_noise_does_not(name, epsilon, delta):
    line = built(name, epsilon, delta)
    spent, left = stated(name, line.scale, delta)
    assert (spent, left) == (line.epsilon, line.delta)
    assert spent <= epsilon
    assert left <= delta
    assert stated(name, line.scale * (1 - 1e-6), delta)[0] > epsilon
    assert line.source.startswith("OpenDP 0.")


def test_half_the_sensitivity_is_caught():
    """The planted bug: noise for a record that is added, not substituted."""
    assert stated("laplace", built("laplace", 1.0).scale / 2, 0.0)[0] > 1.0
    assert approximate(built("gaussian", 1.0).scale / math.sqrt(2), 1e-6).map(math.sqrt(2))[0] > 1


def law(name, scale, reach=4000):
    """P[noise = k], k = -reach..reach, by the definition of the two distributions."""
    k = np.arange(-reach, reach + 1, dtype=np.float64)
    weights = np.exp(-np.abs(k) / scale if name == "laplace" else -(k**2) / (2 * scale**2))
    return k, weights / weights.sum()


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize(("epsilon", "delta"), PAIRS[1:])
def test_the_standard_error_is_that_of_the_law(name, epsilon, delta):
    line = built(name, epsilon, delta)
    k, weights = law(name, line.scale)
    assert line.standard_error == pytest.approx(math.sqrt(weights @ k**2), rel=1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_floor_is_the_library_s_discrete_laplace(epsilon):
    line = built("laplace", epsilon)
    assert line.standard_error == pytest.approx(central_standard_error(epsilon), rel=1e-12)


def test_a_single_bit_asks_half_the_scale():
    dp = peers.load_opendp()
    domain = dp.domains.atom_domain(T="i64")
    alone = dp.measurements.make_laplace(domain, dp.metrics.absolute_distance(T="i64"), 1.0)
    assert alone.map(1) == 1.0
    k, weights = law("laplace", 1.0)
    floor = central_standard_error(1.0, sensitivity=1.0)
    assert floor == pytest.approx(math.sqrt(weights @ k**2), rel=1e-12)


def far_off(noise, name, scale, error):
    """Distance of the mean square from ``error`` squared, in standard errors of that mean."""
    k, weights = law(name, scale)
    fourth = float(weights @ k**4)
    spread = math.sqrt((fourth - float(weights @ k**2) ** 2) / len(noise))
    return abs(float(np.mean(np.square(noise, dtype=np.float64))) - error**2) / spread


@pytest.fixture(scope="module")
def drawn():
    """Forty thousand draws of each noise at (1, 1e-6)."""
    zeros = [0] * 40_000
    laplace, gaussian = built("laplace", 1.0), built("gaussian", 1.0)
    return {
        "laplace": (laplace, np.array(peers.laplace_measurement(laplace.scale)(zeros))),
        "gaussian": (gaussian, np.array(peers.gaussian_measurement(gaussian.scale)(zeros))),
    }


@pytest.mark.parametrize("name", NOISES)
def test_draws_have_the_standard_error(drawn, name):
    """False alarm: about 1e-11 (7 standard errors; heavier for the mean square of Laplace)."""
    line, noise = drawn[name]
    assert far_off(noise, name, line.scale, line.standard_error) < FAR


@pytest.mark.parametrize("name", NOISES)
def test_the_twin_with_a_standard_error_a_tenth_too_small_is_caught(drawn, name):
    line, noise = drawn[name]
    assert far_off(noise, name, line.scale, 0.9 * line.standard_error) > FAR


def test_the_twin_that_takes_the_scale_for_the_standard_error_is_caught(drawn):
    line, noise = drawn["laplace"]
    assert far_off(noise, "laplace", line.scale, line.scale) > FAR


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 20.0])
def test_accuracy_holds_and_is_tight(name, level, epsilon):
    """By the exact distribution: the stated distance keeps the level, two counts less do not."""
    bins = 10
    line = built(name, epsilon, 1e-6, bins, level)
    k, weights = law(name, line.scale)

    def within(distance, share):
        return float(weights[np.abs(k) <= distance].sum()) ** share

    for distance, share in ((line.one_within, 1), (line.all_within, bins)):
        assert within(distance, share) >= level * (1 - 1e-9)
        assert distance < 2 or within(distance - 2, share) < level


def test_the_twin_that_reads_at_least_as_more_than_is_not_tight():
    """The planted bug: OpenDP's accuracy of a Gaussian taken as the distance itself."""
    line = built("gaussian", 1.0)
    accuracy = peers.load_opendp().accuracy.discrete_gaussian_scale_to_accuracy(line.scale, 0.05)
    assert math.floor(accuracy) == line.one_within + 1


def permute_and_flip(counts, scale):
    """P[bin is named], by going through every order of the bins."""
    top = max(counts)
    chance = np.zeros(len(counts))
    orders = list(itertools.permutations(range(len(counts))))
    for order in orders:
        left = 1.0
        for i in order:
            taken = math.exp((counts[i] - top) / scale)
            chance[i] += left * taken
            left *= 1.0 - taken
    return chance / len(orders)


def exponential_law(counts, scale):
    return special.softmax(np.array(counts) / scale)


COUNTS, RUNS = (6, 4, 1, 0), 4000


@pytest.fixture(scope="module")
def named():
    """How often each bin was named, and the scale."""
    scale = built("exponential", 1.0, bins=len(COUNTS)).scale
    name = peers.selection_measurement(scale)
    return np.bincount([name(list(COUNTS)) for _ in range(RUNS)], minlength=len(COUNTS)), scale


def worst(found, chance):
    """The largest distance of a share from its chance, in standard errors."""
    return np.max(np.abs(found / RUNS - chance) / np.sqrt(chance * (1 - chance) / RUNS))


def test_selection_is_permute_and_flip(named):
    """False alarm: about 2e-10 (four bins at 7 standard errors)."""
    found, scale = named
    assert worst(found, permute_and_flip(COUNTS, scale)) < FAR


def test_the_twin_of_another_law_is_caught(named):
    found, scale = named
    assert worst(found, exponential_law(COUNTS, scale)) > FAR


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_naming_a_bin_keeps_its_bound_whatever_is_drawn(epsilon, level):
    """The worst counts: all others as far below as the bound forbids."""
    bins = 5
    line = built("exponential", epsilon, bins=bins, level=level)
    counts = [line.one_within + 1] + [0] * (bins - 1)
    for chances in (exponential_law(counts, line.scale), permute_and_flip(counts, line.scale)):
        assert 1.0 - chances[0] <= 1.0 - level


def test_the_twin_that_forgets_the_number_of_bins_passes_its_bound():
    line = built("exponential", 1.0, bins=5)
    short = math.ceil(line.scale * math.log(1 / 0.05))
    assert 1.0 - exponential_law([short, 0, 0, 0, 0], line.scale)[0] > 0.05


def test_direct_encoding_of_the_local_floor_keeps_epsilon_by_opendp():
    dp, bins, users, epsilon = peers.load_opendp(), 3, 1000, 1.0
    keep = math.exp(epsilon) / (math.exp(epsilon) + bins - 1)
    answer = dp.measurements.make_randomized_response(categories=[0, 1, 2], prob=keep)
    assert answer.map(1) == pytest.approx(epsilon, rel=1e-9)
    other = (1 - keep) / (bins - 1)
    error = math.sqrt(users * other * (1 - other)) / (keep - other)
    assert local_standard_error(epsilon, users, bins) == pytest.approx(error, rel=1e-12)


GUARANTEE = Guarantee(epsilon=1.0, delta=1e-6)
TRUTH = np.array([500, 20, 0, 7])


def test_all_three_are_built_and_measured():
    found, measured = peers.compare_central_mechanisms(GUARANTEE, TRUTH, level=0.95, seeded=False)
    assert [line.name for line in found.lines] == [peers.LAPLACE, peers.GAUSSIAN, peers.EXPONENTIAL]
    assert found.note == ""
    assert [*measured] == [line.name for line in found.lines]
    assert measured[peers.EXPONENTIAL] == 0.0  # false alarm: 3 exp(-240)


def test_measured_errors_are_those_of_the_noise():
    """False alarm: below 1e-14; over ten thousand bins 10 % is at least nine standard errors."""
    truth = np.arange(10_000)
    found, measured = peers.compare_central_mechanisms(GUARANTEE, truth, level=0.95, seeded=False)
    for line in found.lines[:2]:
        assert measured[line.name] == pytest.approx(line.standard_error, rel=0.1)


def test_a_seed_leaves_the_draws_out_and_says_so():
    found, measured = peers.compare_central_mechanisms(GUARANTEE, TRUTH, level=0.95, seeded=True)
    assert found.note == peers.SEEDED
    assert (len(found.lines), measured) == (3, {})


def test_too_many_bins_are_not_drawn(monkeypatch):
    monkeypatch.setattr(peers, "MOST_BINS", 3)
    found, measured = peers.compare_central_mechanisms(GUARANTEE, TRUTH, level=0.95, seeded=False)
    assert "more than 3 bins" in found.note
    assert len(found.lines) == 3
    assert measured == {}


def test_without_opendp_there_are_none_and_it_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "opendp", None)
    found, measured = peers.compare_central_mechanisms(GUARANTEE, TRUTH, level=0.95, seeded=False)
    assert measured == {}
    assert (found.lines, found.note) == ((), peers.MISSING)
    assert "install mixtally[baselines]" in found.note

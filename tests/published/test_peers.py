"""Bounds of others: their numbers, their ranges, and that they are bounds."""

import math

import pytest

from helpers import least
from mixtally.accounting.divergence import one_hot
from mixtally.errors import ParameterError
from mixtally.lab.formulas import notes, shuffle_bounds
from mixtally.primitives.fixed_point import threshold_of
from published.printed import as_printed

DELTA = 1e-6


def written_clones(local, delta, users):
    grow = math.exp(local)
    reach = 8 * math.sqrt(grow * math.log(4 / delta)) / math.sqrt(users) + 8 * grow / users
    return math.log(1 + (grow - 1) / (grow + 1) * reach)


def reproduces():
    fakes = 10**6
    q = shuffle_bounds.cheu_zhilyaev(1.0, DELTA, fakes)
    exact = least.threshold(fakes, 1.0, DELTA) / 2**64
    asked = shuffle_bounds.clones(1.0, DELTA, 10**6)
    return (
        as_printed(q / exact, "11")
        and as_printed(math.sqrt(q / exact), "3.3")
        and q * (1 - q) * fakes == pytest.approx(2.2 * notes.one_hot_cover(1.0, DELTA), rel=1e-9)
        and shuffle_bounds.clones_epsilon(4.0, DELTA, 10**5)
        == pytest.approx(written_clones(4.0, DELTA, 10**5), rel=1e-9)
        and written_clones(2 * math.log((1 - asked) / asked), DELTA, 10**6)
        == pytest.approx(1.0, rel=1e-9)
    )


def test_every_known_number_is_reproduced():
    assert reproduces()


def test_cheu_zhilyaev_begins_at_one_half():
    least = math.ceil(26.4 * math.log(4 / DELTA) / math.tanh(0.5) ** 2)
    assert 0.45 < shuffle_bounds.cheu_zhilyaev(1.0, DELTA, least) <= 0.5
    with pytest.raises(ParameterError, match=f"at least {least:,}"):
        shuffle_bounds.cheu_zhilyaev(1.0, DELTA, least - 1)


def test_clones_end_where_the_theorem_ends():
    users = 10**5
    most = math.log(users / (16 * math.log(2 / DELTA)))
    shuffle_bounds.clones_epsilon(most * 0.999999, DELTA, users)
    with pytest.raises(ParameterError, match="local epsilon: expected at most"):
        shuffle_bounds.clones_epsilon(most * 1.000001, DELTA, users)
    with pytest.raises(ParameterError, match="users: expected more than"):
        shuffle_bounds.clones(1.0, DELTA, 200)
    assert shuffle_bounds.clones(20.0, DELTA, users) == pytest.approx(1 / (1 + math.exp(most / 2)))


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("flip", [0.02, 0.03, 0.1])
def test_the_hoeffding_form_bounds_the_exact_distribution_of_the_same_blanket(epsilon, flip):
    users, ratio = 10**5, (1 - flip) / flip
    spread = (1 + math.exp(epsilon)) * (ratio - 1 / ratio)
    bound = shuffle_bounds.blanket_hoeffding(epsilon, users, 1 / ratio, spread)
    exact = one_hot.messages_delta(users, 0, threshold_of(flip), epsilon).upper
    assert bound >= exact * (1 - 1e-6) or exact < 1e-25


def test_the_hoeffding_form_is_the_lemma_written_out():
    epsilon, users, blanket, spread = 1.0, 5000, 0.2, 9.0
    drift = math.e - 1
    hit = blanket * (1 - math.exp(-2 * drift**2 / spread**2))
    written = spread**2 / (4 * drift * blanket * users) * (1 - hit) ** users
    assert shuffle_bounds.blanket_hoeffding(epsilon, users, blanket, spread) == pytest.approx(
        written
    )
    assert shuffle_bounds.blanket_hoeffding(epsilon, 10, blanket, 1000.0) == 1.0


def test_the_blanket_asks_the_least_flips_its_form_allows():
    q = shuffle_bounds.blanket(1.0, DELTA, 10**6)

    def form(flip):
        ratio = (1 - flip) / flip
        spread = (1 + math.e) * (ratio - 1 / ratio)
        return shuffle_bounds.blanket_hoeffding(1.0, 10**6, 1 / ratio, spread)

    assert form(q) <= DELTA < form(q * 0.999999)


@pytest.mark.parametrize(
    ("call", "subject"),
    [
        (lambda: shuffle_bounds.cheu_zhilyaev(1.0, DELTA, 0), "fakes"),
        (lambda: shuffle_bounds.blanket(1.0, DELTA, 0), "users"),
        (lambda: shuffle_bounds.blanket_hoeffding(1.0, 10, 0.0, 1.0), "blanket"),
        (lambda: shuffle_bounds.blanket_hoeffding(1.0, 10, 0.5, 0.0), "blanket"),
    ],
)
def test_outside_its_range_a_formula_is_refused(call, subject):
    with pytest.raises(ParameterError, match=rf"^{subject}: expected .*, got .*\. "):
        call()

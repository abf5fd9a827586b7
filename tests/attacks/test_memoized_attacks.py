"""What repeated reports of one memoized answer betray: the story of the side notes, in numbers."""

import numpy as np
import pytest

from mixtally.errors import ParameterError
from mixtally.lab.attacks import (
    MEMOIZED_ATTACKS,
    Verdict,
    averaging,
    linking,
    run_attacks,
    tracking,
)
from mixtally.lab.attacks.memoized import (
    count_ones,
    memoized_target,
    simple_recall,
    true_rows,
    unpack_bits,
)
from mixtally.lab.attacks.worlds import Worlds, power_at


def memoized(bits=128, reports=5, hashes=1, permanent=0.5):
    return memoized_target(permanent, 0.5, 0.75, hashes, reports, bits)


def redrawn(target):
    """Answers that are thrown away after every report."""
    recall = simple_recall(target.mechanism)

    def fresh(rows, columns, reports, chance):
        return [recall(rows, columns, 1, chance)[0] for _ in range(reports)]

    return fresh


def test_memoized_answers_have_the_distribution_of_their_parameters(lab):
    """Frequencies within five standard errors; four of them, chance 3e-6."""
    kept, chance = memoized(bits=2).mechanism, lab().chance
    shown = simple_recall(kept)(true_rows(kept, 40_000), 2, 2, chance)
    first, second = (unpack_bits(rows, 2) for rows in shown)
    both = (first & second).mean(axis=0)
    for seen, wanted in (
        (first.mean(axis=0)[0], 0.75 * 0.75 + 0.25 * 0.5),
        (first.mean(axis=0)[1], 0.25 * 0.75 + 0.75 * 0.5),
        (both[0], 0.75 * 0.75**2 + 0.25 * 0.25),
        (both[1], 0.25 * 0.75**2 + 0.75 * 0.25),
    ):
        assert abs(seen - wanted) < 5.0 * 0.5 / 200.0
    assert count_ones(shown, 2).max() == 2


def test_more_reports_than_a_byte_counts_are_counted():
    shown = [np.array([[0b01]], dtype=np.uint8)] * 300
    assert count_ones(shown, 2).tolist() == [[300, 0]]


def test_averaging_finds_what_is_kept_and_never_the_truth(lab):
    """4,000 people of two bits: errors are known to 0.006, and tested within 0.03.

    What is kept: 0.375, 0.277, 0.117, 0.004 after 1, 5, 20, 100 reports.
    """
    found, _ = averaging.run_memoized(memoized(), lab(runs=8000))
    errors = found.numbers["errors"]
    held = errors["memory, what it holds"]
    for count, wanted in ((1, 0.375), (5, 0.277), (20, 0.117), (100, 0.004)):
        assert held[float(count)] == pytest.approx(wanted, abs=5e-4)
    true = errors["memory, true bit"]
    assert true[1.0] > 0.4
    assert true[100.0] == pytest.approx(0.25, abs=0.03)
    assert set(errors["the memoized bit, shown"].values()) == {
        errors["the memoized bit, shown"][1.0]
    }
    assert errors["the memoized bit, shown"][1.0] == pytest.approx(0.25, abs=0.03)
    assert errors["fresh noise every time"][100.0] < 0.15
    assert found.verdict is Verdict.CONSISTENT
    assert found.promised == pytest.approx(1.828, abs=1e-3)


def test_answers_that_are_not_kept_break_what_was_promised(lab):
    """The twin: redrawn for every report, fifty of them tell more than eps_inf."""
    kept = memoized(reports=50)
    held, _ = averaging.run_memoized(kept, lab(runs=8000))
    forgot, _ = averaging.run_memoized(kept, lab(runs=8000), redrawn(kept))
    assert held.verdict is Verdict.CONSISTENT
    assert forgot.verdict is Verdict.VIOLATED


@pytest.mark.seconds
@pytest.mark.parametrize(("bits", "runs", "least", "most"), [
    (128, 40_000, 0.05, 0.18), (1000, 10_000, 0.99, 1.0),
])  # fmt: skip
def test_linking_recognizes_the_kept_noise(bits, runs, least, most, lab):
    """About 11 % and 99.96 % at a false-alarm rate of 1e-4; the cut rests on few runs."""
    (found,) = linking.run_memoized(memoized(bits), lab(runs=runs))
    assert least < found.numbers["power"] <= most
    assert found.verdict is Verdict.MEASURED
    assert found.attacked > 3.0


def test_another_answer_for_every_place_cannot_be_linked(lab):
    """The twin: what is redrawn has no fingerprint; a power of 0.01 has no chance."""
    (found,) = linking.run_memoized(memoized(1000), lab(runs=3000), redrawn(memoized(1000)))
    assert found.numbers["power"] < 0.01
    assert found.attacked == 0.0


def test_tracking_grows_with_the_reports(lab):
    (found,) = tracking.run_memoized(memoized(1000), lab(runs=600))
    powers = found.numbers["powers"]
    assert list(powers) == [2.0, 3.0, 4.0, 5.0]
    assert powers[5.0] > powers[2.0]
    assert found.attacked > 1.0
    (nothing,) = tracking.run_memoized(memoized(1000), lab(runs=600), redrawn(memoized(1000)))
    assert nothing.attacked < 0.5


def test_tracking_counts_every_share_once(lab):
    """The mean over shares of the likelihood ratio is 1 where nothing is known: E_v[e^L] = 1.

    2,000 series of two bits; five standard errors.
    """
    kept = memoized(bits=2).mechanism
    worlds = tracking.track(kept, 3, 4000, lab(), simple_recall(kept))
    ratios = np.exp(worlds.v)
    assert abs(ratios.mean() - 1.0) < 5.0 * ratios.std() / np.sqrt(4000)
    with pytest.raises(ParameterError):
        tracking.track(kept, 9, 100, lab(), simple_recall(kept))


def test_all_of_them_run_together(lab):
    outcomes = run_attacks(memoized(), lab(runs=400))
    assert list(dict.fromkeys(one.attack for one in outcomes)) == list(MEMOIZED_ATTACKS)
    with pytest.raises(ParameterError):
        run_attacks(memoized(), lab(), "tell-apart")


def test_power_is_counted_beyond_the_allowed_alarms():
    worlds = Worlds(np.array([1.0, 5.0, 9.0, 9.0]), np.array([0.0, 2.0, 4.0, 8.0]))
    assert power_at(worlds, 0.0) == 0.5
    assert power_at(worlds, 0.25) == 0.75


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("p", "q"), [(0.0, 1.0), (0.0, 0.9), (0.2, 1.0)])
def test_reports_that_show_what_is_kept_are_attacked_too(lab, p, q):
    bare = memoized_target(0.5, p, q, 1, 4, 16)
    for outcome in run_attacks(bare, lab(runs=200)):
        assert outcome.verdict is not Verdict.VIOLATED


def test_a_thousand_reports_are_still_weighed():
    """Powers of p and q vanish there, their logarithms do not."""
    tables = [linking.link_evidence(memoized().mechanism, 1000, bit) for bit in (0, 1)]
    assert np.isfinite(tables).all()
    few = linking.link_evidence(memoized().mechanism, 2, 1)
    zero, one = (np.array([x**s * (1 - x) ** (2 - s) for s in range(3)]) for x in (0.5, 0.75))
    alone = 0.75 * one + 0.25 * zero
    both = 0.75 * np.outer(one, one) + 0.25 * np.outer(zero, zero)
    assert few == pytest.approx(np.log(both / np.outer(alone, alone)), abs=1e-12)

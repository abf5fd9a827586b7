"""What a study says about itself, and its table on a terminal."""

import io

import numpy as np
import pytest
from rich.console import Console

from mixtally.report.counts_view import CountsView
from simulation.studies import summary, with_estimate


def printed(study, top=20):
    out = io.StringIO()
    Console(file=out, width=160).print(summary(study, top))
    return out.getvalue()


def measured(study):
    return CountsView(study.main_result, truth=study.truth).measure_errors()


def error_as_expected(study):
    """Whether the mean square over 2000 bins is within 20 % of what was expected."""
    ratio = measured(study)["measured_error"] / study.main_result.estimate.standard_error
    return abs(ratio**2 - 1) < 0.2


def test_measured_error_is_the_expected_one(study):
    """False alarm of a fresh seed: below 10^-9.

    The mean square of 2000 independent, nearly normal errors has a standard deviation of
    sqrt(2 / 2000) = 3.2 % and is 20 % off, six of them, with probability 4 x 10^-10.
    """
    assert error_as_expected(study([1] * 2000))


def test_the_twin_without_subtracting_the_offset_is_caught(study):
    made = study([1] * 2000)
    main = made.main_result
    (part,) = main.plan.parts
    offset = part.mechanism(fakes=main.messages - 2000).offset(main.messages)
    shifted = main.estimate.counts + offset
    assert not error_as_expected(with_estimate(made, counts=shifted))


def test_measured_error_is_the_root_mean_square(study):
    made = study([300, 400])
    off = with_estimate(made, counts=made.truth.counts + np.array([3.0, -4.0]))
    assert measured(off)["measured_error"] == pytest.approx(np.sqrt(12.5))


def test_covered_is_the_share_of_intervals_that_hold_the_truth(study):
    made = study([100] * 40, level=0.5)
    covered = measured(made)["covered"]
    held = f"{round(40 * covered)} of the 40 intervals cover the true count; 20 are expected"
    assert held in " ".join(printed(made).split())
    assert 0 < covered < 1


def test_ranked_runs_from_the_largest_estimate_down(study):
    made = study([5, 700, 300])
    assert made.main_result.rank_bins().tolist()[:2] == [1, 2]


def test_the_table_lists_the_top_bins_with_intervals(study):
    made = study([700, 300, 40], labels=("red", "blue", "teal"))
    text = printed(made, top=2)
    assert "│ red " in text
    assert "│ blue " in text
    assert "│ teal " not in text
    assert "2 of 3 shown, the largest" in text
    assert "true count" in text.splitlines()[2]
    assert "95 % interval" in text
    assert "local model" in text


def test_labels_and_titles_are_printed_as_they_are_written(study):
    text = printed(study([700, 300], labels=("[red]a", "[/b]"), name="[i]", title="[b]T[/b]"))
    for written in ("[red]a", "[/b]", "[i]", "[b]T[/b]"):
        assert written in text

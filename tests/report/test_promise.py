"""The three lines say no less than is true, and nothing twice."""

import math
import re

import pytest
from msgspec.structs import replace

from mixtally.model.guarantee import Observer
from mixtally.report.promise import (
    assumption_text,
    certificate_line,
    error_line,
    exactness_text,
    promise_of_result,
    protection_line,
)


@pytest.fixture
def shown(study):
    return study([700, 300]).main_result.certificate


def test_the_second_line_rounds_up_and_says_what_it_rests_on(shown):
    line = certificate_line(replace(shown, lower=1.0e-7, upper=1.23456789e-7), ", twice")
    assert line.startswith("epsilon = 1, delta <= 1.23457e-07 (proved upper bound, twice). ")
    assert line.endswith(f"{assumption_text(shown.assumption)}.")


@pytest.mark.parametrize(
    ("lower", "upper", "word"),
    [
        (0.0, 0.0, "exact"), (9.9999e-7, 1e-6, "exact"), (9.99e-7, 1e-6, "proved upper bound"),
        (0.0, 1e-6, "proved upper bound"),
    ],
)  # fmt: skip
def test_only_ends_that_read_alike_are_exact(shown, lower, upper, word):
    assert exactness_text(replace(shown, lower=lower, upper=upper)) == word


def test_what_a_certificate_rests_on_is_a_sentence():
    assert assumption_text("holds if any one mix is honest") == "Assumes: any one mix is honest"
    assert assumption_text("none: without fakes") == "Assumes nothing of others: without fakes"


def test_half_an_interval_is_rounded_up():
    assert "at most 13 with 95 %" in error_line(6.5)
    assert "at most 2.1 with" in error_line(5.0, half=2.05)
    whole = "at most 41 with 95 % confidence, standard error 20, of 3 people."
    assert whole in error_line(20.0, note=", of 3 people", half=40.1)
    for error in (None, math.nan):
        assert error_line(error).startswith("Expected error of each count: unknown")


@pytest.mark.parametrize("crowd", [[700, 300], [3, 3]])
def test_no_count_is_further_off_than_the_third_line_says(study, crowd):
    """Those of few people neither, whose intervals begin at 0."""
    found = study(crowd, protocols=("clear-shaped",)).main_result
    each = found.estimate.individual
    shown = found.estimate.counts.clip(each.lower, each.upper)
    (most,) = re.findall(r"at most ([\d.]+) with", promise_of_result(found)[2])
    furthest = max((each.upper - shown).max(), (shown - each.lower).max())
    assert furthest <= float(most) <= furthest + 1


def test_the_third_line_names_the_bin_where_bins_differ(study):
    """Values that are replaced: the fullest bin errs most, and an ordinary one is stated beside."""
    crowd = [3_000, 40, 30, 20, 10]
    found = study(crowd, protocols=("kary-response",)).main_result
    errors, (*_, third) = found.estimate.errors, promise_of_result(found)
    assert errors.argmax() == 0
    assert errors.max() > 1.2 * errors[2]
    said = re.search(
        r"standard error (\S+) for a bin with ([\d,]+) people; (\S+) for an ordinary bin with",
        third,
    )
    assert float(said[1]) == pytest.approx(errors[0], rel=0.1)
    assert int(said[2].replace(",", "")) == round(found.estimate.counts[0])
    assert float(said[3]) == pytest.approx(sorted(errors)[2], rel=0.1)
    alike = promise_of_result(study([700, 300], protocols=("clear-shaped",)).main_result)[2]
    assert "for a bin" not in alike


WHO = {Observer.MESSAGES: "message", Observer.SUMS: "sums", Observer.LINKED: "report"}


@pytest.mark.parametrize("observer", Observer)
def test_the_first_line_names_who_looks(observer):
    assert WHO[observer] in protection_line(observer)

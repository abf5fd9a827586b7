"""Numbers for people: privacy numbers are rounded to their own side, others stay readable."""

import math
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mixtally.report.numbers import at_least, at_most, number, round_to_error
from mixtally.report.words import assumption_text, format_fact, promise_paragraphs

POSITIVE = st.floats(1e-300, 1e300)
DIGITS = st.integers(1, 12)


def one_up(value, digits):
    """The size of one step in the last of ``digits`` digits of ``value``, with room."""
    return 10.0 ** (math.floor(math.log10(value)) + 1 - digits) * (1 + 1e-9)


@given(POSITIVE, DIGITS)
def test_at_most_is_never_below_and_at_most_one_step_above(value, digits):
    read = float(at_most(value, digits))
    assert value <= read <= value + one_up(value, digits)


@given(POSITIVE, DIGITS)
def test_at_least_is_never_above_and_at_most_one_step_below(value, digits):
    read = float(at_least(value, digits))
    assert value - one_up(value, digits) <= read <= value


@given(st.integers(1, 999), st.integers(-15, 3))
@example(1, -1)
def test_a_number_of_three_digits_is_told_as_it_was_written(digits, power):
    """0.1 is told as 0.1, not as 0.101 because its double lies above a tenth by 10^-17."""
    written = float(f"{digits}e{power}")
    assert float(at_most(written)) == float(at_least(written)) == written


def test_zero_stays_zero():
    assert (at_most(0.0), at_least(0.0)) == ("0", "0")


def test_the_twin_that_rounds_to_the_nearest_is_caught():
    assert float(f"{1.0001e-6:.3g}") < 1.0001e-6 <= float(at_most(1.0001e-6))
    assert float(f"{9.999e-7:.3g}") > 9.999e-7 >= float(at_least(9.999e-7))


@given(st.floats(1e-15, 0.1))
def test_facts_round_privacy_numbers_to_their_own_side(value):
    assert float(format_fact("delta", value)) >= value
    assert float(format_fact("delta_lower", value)) <= value
    assert float(format_fact("local_epsilon", value)) >= value


@given(st.floats(0.01, 20))
@example(1.00000049)
def test_epsilon_is_never_told_smaller_than_it_is(value):
    assert float(format_fact("epsilon", value)) >= value


def test_facts_read_like_numbers_of_people():
    assert format_fact("users", 1_000_000) == "1,000,000"
    assert format_fact("local_epsilon", None) == "unbounded"
    assert format_fact("protocol", "flip-blank") == "flip-blank"
    assert format_fact("standard_error", 9.236272774183508) == "9.2"


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (6541.2793, 6.53281, "6,541.3"), (1234.5, 262.0, "1,230"), (0.123456, 0.0021, "0.1235"),
        (-3.2, 87.0, "-3"), (-0.04, 8.0, "0.0"), (5.0, 0.0, "5"), (5.4, None, "5"),
        (41.0, 1114.0, "0"), (99_960.0, 1000.0, "100,000"),
    ],
)  # fmt: skip
def test_a_number_is_told_to_the_second_digit_of_its_error(value, error, text):
    assert round_to_error(value, error) == text


def test_ends_of_intervals_are_rounded_outwards():
    assert round_to_error(10.31, 1.0, math.floor) == "10.3"
    assert round_to_error(10.31, 1.0, math.ceil) == "10.4"
    assert round_to_error(2.5, 1.0, sign="+") == "+2.5"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (2.8, "2.8"), (9.2363, "9.24"), (123.4, "123"), (1000.0, "1,000"),
        (1_114.2, "1,114"), (999.4, "999"), (999.7, "1,000"), (0.0163, "0.0163"),
    ],
)  # fmt: skip
def test_errors_are_told_in_three_digits_or_whole_counts(value, text):
    assert number(value) == text


@given(st.floats(0.001, 1e9))
@example(999.7)
def test_errors_are_never_told_with_an_exponent(value):
    assert "e" not in number(value)


def test_the_promise_states_numbers_no_better_than_the_certificate(study):
    made = study([700, 300], epsilon=0.7310005)
    shown = made.main_result.plan.certificate
    text = " ".join(promise_paragraphs(made.main_result.plan))
    assert float(re.search(r"at most (\S+) times", text)[1]) >= math.exp(shown.epsilon)
    assert float(re.search(r"probability of (\S+)\. ", text)[1]) >= shown.upper
    assert float(re.search(r"delta <= (\S+),", text)[1]) >= shown.upper
    lower, upper = re.search(r"lies between (\S+) and (\S+)\. ", text).groups()
    assert float(lower) <= shown.lower <= shown.upper <= float(upper)
    assert float(re.search(r"epsilon = (\S+),", text)[1]) >= shown.epsilon


def test_the_promise_names_observer_status_source_and_assumption(study):
    plan = study([700, 300]).main_result.plan
    text, shown = " ".join(promise_paragraphs(plan)), plan.certificate
    for said in (shown.observer, shown.status, shown.source, assumption_text(shown.assumption)):
        assert said in text


@pytest.mark.parametrize(
    ("value", "text"), [(2560.04, "2,560"), (-43_210.4, "-43,210"), (0.5, "0.5")]
)
def test_thousands_are_grouped_at_any_number_of_digits(value, text):
    assert number(value, 5) == text

"""A question has 2 to 10^7 bins, each named once."""

import pytest

from mixtally.errors import ParameterError, PlanError
from mixtally.model.question import MOST_BINS, Question, check_bins
from mixtally.primitives.codec import from_json


@pytest.mark.parametrize("bins", [2, 3, MOST_BINS])
def test_a_number_of_bins_in_range_comes_back_itself(bins):
    assert check_bins(bins) == bins
    assert Question(name="q", bins=bins).bins == bins


@pytest.mark.parametrize("bins", [-1, 0, 1, MOST_BINS + 1, float("nan")])
def test_a_number_of_bins_outside_its_range_is_refused(bins):
    with pytest.raises(ParameterError, match="bins"):
        Question(name="q", bins=bins)


@pytest.mark.parametrize(
    "labels", [(), ("a",), ("a", "b", "c"), ("a", "a"), ("a", ""), ("a", "b", "b")]
)
def test_labels_that_do_not_name_every_bin_once_are_refused(labels):
    with pytest.raises(PlanError, match="2 distinct, non-empty labels"):
        Question(name="q", bins=2, labels=labels)


def test_a_bin_is_called_by_its_label_or_its_number():
    assert Question(name="q", bins=2, labels=("a", "b")).label(1) == "b"
    assert Question(name="q", bins=2).label(1) == "1"


def test_a_question_cannot_be_changed():
    with pytest.raises(AttributeError):
        Question(name="q", bins=2).bins = 3


@pytest.mark.parametrize("text", ["\x1b[2J", "a\0b", "\x7f", "\x9b31m", "\ud800", "a\udfffb"])
def test_text_that_a_terminal_would_obey_or_refuse_is_refused(text):
    for given in ({"name": text}, {"name": "q", "labels": ("a", text)}):
        with pytest.raises(PlanError, match="without control characters"):
            Question(bins=2, **given)


def test_half_a_character_in_the_json_of_a_question_is_refused():
    """JSON may spell what no UTF-8 holds; whole characters may be spelled as two halves."""
    shown = b'{"bins":2,"labels":["a","%s"],"name":"q"}'
    assert from_json(shown % rb"\ud83d\ude00", Question, "file").label(1) == "\U0001f600"
    for half in (rb"\ud83d", rb"\udcff"):
        with pytest.raises(PlanError, match="whole characters"):
            from_json(shown % half, Question, "file")


def test_tabs_and_ends_of_lines_are_text():
    assert Question(name="q", bins=2, labels=("a\tb", "a\r\nb")).label(0) == "a\tb"

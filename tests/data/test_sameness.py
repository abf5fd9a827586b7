"""What people cannot tell apart is one label, or refused; labels stand as people count."""

import pytest

from helpers.contracts import contract_of, plan_of, proved, shaped
from helpers.data_files import in_every_format, people
from mixtally.api import Device, plan
from mixtally.api.values import ReadingRequest, read_crowd
from mixtally.cli.labels import read_labels
from mixtally.errors import DataError, PlanError, RefusedError
from mixtally.lab.data.label_merging import natural_sort_key
from mixtally.model.contract import write_contract
from mixtally.model.question import Question

ONE, TWO = "caf\u00e9", "cafe\u0301"


def crowd(values, **wanted):
    return read_crowd(values, None, ReadingRequest(**wanted)).population


@pytest.mark.parametrize("name", in_every_format({"c": ["x"]}))
def test_accents_are_put_together_in_every_source(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(in_every_format({"no": [1, 2, 3], "c": [ONE, TWO, "tea"]})[name])
    assert people(path, "c").truth.tolist() == [2, 1]
    for fixed in (ONE, TWO):
        assert people(path, "c", labels=(fixed, "tea")).question.labels == (fixed, "tea")
    assert crowd([ONE, TWO, "tea"]).question.labels == (ONE, "tea")
    words = tmp_path / "labels.txt"
    words.write_text(f"{TWO}\ntea\n")
    assert read_labels(words) == (ONE, "tea")


@pytest.mark.parametrize(
    "other",
    [
        "te\u200ba",
        "tea\ufeff",
        "t\u00adea",
        "tea\u2060",
        "tea\ufe0f",
        "te\u034fa",
        "tea\u3164",
        "\u180btea",
        "te\uffa0a",
        "tea\U000e0101",
    ],
)
def test_characters_without_a_width_tell_nothing_apart(tmp_path, other):
    path = tmp_path / "data.csv"
    path.write_text(f"no,c\n1,tea\n2,{other}\n")
    with pytest.raises(
        DataError, match=r"more than spaces and invisible signs, got 'tea' and .*\\"
    ):
        people(path, "c")
    with pytest.raises(DataError, match="invisible signs"):
        crowd(["tea", other])


def test_two_ways_to_write_a_number_are_refused_unless_they_are_listed(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("no,c\n1,2.50\n2,2.5\n")
    with pytest.raises(DataError, match="one way to write a number"):
        people(path, "c")
    with pytest.raises(DataError, match="one way to write a number"):
        crowd(["2.50", "2.5"])
    assert people(path, "c", labels=("2.5", "2.50")).truth.tolist() == [1, 1]


@pytest.mark.parametrize(
    "labels", [["2", "10", "100"], ["-10", "-2", "0", "x"], ["wave 2", "wave 10"], ["01", "1", "2"]]
)
def test_labels_stand_as_people_count(tmp_path, labels):
    path = tmp_path / "data.csv"
    path.write_text("no,c\n" + "".join(f"1,{label}\n" for label in sorted(labels)))
    assert people(path, "c").question.labels == tuple(labels)
    assert crowd(sorted(labels)).question.labels == tuple(labels)
    assert sorted(labels, key=natural_sort_key) == labels


def test_plans_and_devices_of_python_have_the_same_form():
    asked = {"users": 1000, "epsilon": 1, "delta": 1e-6}
    assert plan(["tea", TWO], **asked).record.question.labels == ("tea", ONE)
    with pytest.raises(PlanError, match="distinct labels"):
        plan([ONE, TWO], **asked)
    question = Question(name="drink", bins=2, labels=("tea", ONE))
    made = proved(plan_of(question, [shaped(2)], delta=1e-3))
    device = Device(write_contract(contract_of(made)), epsilon=20, delta=0.1)
    with pytest.raises(RefusedError):
        device.messages("cafe")
    assert device.messages(TWO).parts

"""Epochs go by time, by number or as declared; otherwise their order is doubted aloud."""

import itertools

import pandas
import pytest

import mixtally
from helpers.data_files import in_parquet
from mixtally.errors import DataError
from mixtally.lab.data.epoch_names import moments_of, order_epochs
from mixtally.lab.data.file import DataFile
from mixtally.lab.data.readers import read_epochs
from mixtally.lab.data.reading import Reading, RowCombination
from mixtally.lab.data.timeline import EpochColumn

IN_TIME = [
    ("Nov 2023", "Dec 2023", "Jan 2024", "Feb 2024"),
    ("November 2023", "december 2023", "2024 Jan", "Sept. 2024"),
    ("Nov-23", "Dec-23", "Jan '24"),
    ("Dec-99", "Jan-00"),
    ("2023-9", "2023-10", "2024-01"),
    ("12/2023", "01/2024"),
    ("2023-W52", "2024-W1", "2024 week 2", "KW 10 2024"),
    ("Q4 2023", "2024-Q1", "2Q2024", "2024q3"),
    ("H2 2023", "2024 H1"),
    ("5 Nov 2023", "Dec 1, 2023", "2024 Jan 1"),
    ("31/12/2023", "01/02/2024", "02/01/2025"),
    ("12/31/2023", "01/15/2024", "02/01/2024"),
    ("31.12.2023", "1.2.2024", "2.2.2024"),
    ("2024-01-09", "2024/01/10", "2024.1.11"),
    ("2024-01-09 9:30", "2024-01-09 10:00:00", "2024-01-09T10:00:00.5"),
    ("2024-03-31T01:30:00+01:00", "2024-03-31T00:45:00Z", "2024-03-31 03:00:00+0200"),
    ("2024-01-01T12:00:00Z", "2024-01-01T08:00:00-05:00", "2024-01-01T10:30:00-0330"),
    ("9", "10", "11"),
    ("wave 9", "wave 10", "wave 11"),
    ("2023 part 2", "2024 part 1"),
]


@pytest.mark.parametrize("names", IN_TIME)
def test_epochs_go_by_time_or_by_number(names):
    for mixed in itertools.permutations(names):
        found = order_epochs(mixed, subject="column 'when'")
        assert found.names == names
        assert [found.names[place] for place in found.place] == list(mixed)
        assert found.warning == ""


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("spring", "autumn"), "sorted by their letters, as 'autumn'"),
        (("Nov 30", "Dec 01"), "sorted by their letters"),  # days or years
        (("01/02/2024", "02/01/2024"), "sorted by their letters"),  # days or months first
        (("2024-01-01", "2024-W2"), "sorted by their letters"),
        (("1-2", "2-1"), "sorted by their letters"),
        (("Mar", "Jan"), "parts of one year"),
        (("Sunday", "Monday"), "parts of one week"),
    ],
)
def test_other_orders_are_doubted(names, said):
    warning = order_epochs(names, subject="column 'when'").warning
    assert said in warning
    assert "--epoch-order" in warning
    assert order_epochs(names, names, subject="column 'when'") == (names, (0, 1), "")


def test_one_moment_in_two_zones_is_one_epoch():
    names = ("2024-01-01T01:00:00+01:00", "2024-01-02T00:00:00Z", "2024-01-01T00:00:00Z")
    assert order_epochs(names, subject="column 'when'") == (names[:2], (0, 1, 0), "")


def test_one_day_in_two_forms_is_refused():
    with pytest.raises(DataError, match="got '2024-01-05' and '5 Jan 2024' for the same"):
        order_epochs(("2024-01-05", "5 Jan 2024"), subject="column 'when'")


def test_what_is_no_time_says_nothing_of_it():
    for name in ("", "2024-13", "2024-W60", "25:00", "Q5 2024", "H3 2024", "5", "R2D2"):
        assert moments_of([name]) is None


def test_a_person_comes_once_in_a_moment_of_two_zones(tmp_path):
    path = tmp_path / "data.csv"
    moments = "2024-01-01T01:00:00+01:00", "2024-01-01T00:00:00Z"
    rows = [f"{who},{when},{answer}" for when, answer in zip(moments, "ab", strict=True)
            for who in "xyz"]  # fmt: skip
    path.write_text("who,when,answer\n" + "\n".join(rows) + "\n")
    reading = Reading(columns=("answer",), person="who", labels=("a", "b"))
    with pytest.raises(DataError, match=r"row 4: .* a second one in epoch '2024-01-01T01"):
        read_epochs(DataFile(path), reading, EpochColumn("when"))
    last = Reading(
        columns=("answer",), person="who", labels=("a", "b"), several=RowCombination.LAST
    )
    found = read_epochs(DataFile(path), last, EpochColumn("when"))
    assert (found.epochs, found.truth.tolist()) == (moments[:1], [[0, 3]])


def in_weeks(levels, *, ordered, path):
    names = ["spring", "autumn", "winter"] * 100
    kind = pandas.CategoricalDtype(levels, ordered=ordered)
    frame = pandas.DataFrame({"when": pandas.Series(names, dtype=kind), "answer": ["a", "b"] * 150})
    frame.to_parquet(path)
    found = read_epochs(DataFile(path), Reading(columns=("answer",)), EpochColumn("when"))
    told = mixtally.simulate_epochs(frame, epochs="when", epsilon=4, delta=1e-3, seed=1)
    assert list(dict.fromkeys(r["epoch"] for r in told.tables["counts"])) == list(found.epochs)
    return found.epochs, found.warning


def test_a_type_declares_the_order(tmp_path):
    path, levels = tmp_path / "a.parquet", ["winter", "spring", "summer", "autumn"]
    in_order = (("winter", "spring", "autumn"), "")
    assert in_weeks(levels, ordered=True, path=path) == in_order
    assert in_weeks(levels, ordered=False, path=path) == in_order
    assert in_weeks(sorted(levels), ordered=True, path=path)[1] == ""
    epochs, warning = in_weeks(sorted(levels), ordered=False, path=path)
    assert epochs == ("autumn", "spring", "winter")
    assert "--epoch-order" in warning


def test_months_of_an_unordered_type_go_by_time(tmp_path):
    path, months = tmp_path / "a.parquet", ["Dec 2023", "Jan 2024"] * 2
    frame = pandas.DataFrame({"when": months, "answer": ["a", "b", "b", "a"]})
    frame["when"] = frame["when"].astype(pandas.CategoricalDtype(["Jan 2024", "Dec 2023"]))
    frame.to_parquet(path)
    found = read_epochs(DataFile(path), Reading(columns=("answer",)), EpochColumn("when"))
    assert found.epochs == ("Dec 2023", "Jan 2024")


def test_moments_of_a_column_have_their_zone(tmp_path):
    when = pandas.to_datetime(["2024-01-01 10:00", "2024-01-01 09:00"] * 2).tz_localize("UTC")
    path = tmp_path / "a.parquet"
    path.write_bytes(in_parquet({"when": list(when), "answer": ["a", "b", "b", "a"]}))
    found = read_epochs(DataFile(path), Reading(columns=("answer",)), EpochColumn("when"))
    assert [name[11:16] for name in found.epochs] == ["09:00", "10:00"]


def test_python_says_what_is_doubted():
    seasons, answers = ["spring", "autumn"] * 200, ["a", "b", "b", "a"] * 100
    asked = {"epochs": seasons, "epsilon": 4, "delta": 1e-3, "labels": ["a", "b"], "seed": 1}
    told = mixtally.simulate_epochs(answers, **asked)
    assert "give their order with order" in told.facts["source"]
    told = mixtally.simulate_epochs(answers, order=["spring", "autumn"], **asked)
    assert "order" not in told.facts["source"]

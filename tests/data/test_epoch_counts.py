"""Counts by epoch are those of the records, whether they are read, invented or taken."""

from dataclasses import replace

import numpy as np
import pytest

from mixtally.app.epochs import _check_complete as check_complete
from mixtally.errors import DataError
from mixtally.lab.data.epoch_counts import EpochCounts, EpochTally, count_by_epoch
from mixtally.lab.data.file import DataFile
from mixtally.lab.data.population import Population
from mixtally.lab.data.readers import read_epoch_counts, read_epochs
from mixtally.lab.data.reading import Reading, RecordType, RowCombination
from mixtally.lab.data.timeline import EpochColumn
from mixtally.lab.data.turnover import simulate_turnover, simulate_turnover_counts
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.question import Question
from mixtally.primitives.draw import draw_below

QUESTION = Question(name="answer", bins=3, labels=("a", "b", "c"))


def same(one, other):
    """Whether two counts by epoch agree in all that a simulation reads."""
    assert (one.question, one.epochs, one.from_data) == (
        other.question,
        other.epochs,
        other.from_data,
    )
    assert (one.note, one.warning, one.attendance) == (other.note, other.warning, other.attendance)
    assert one.truth.tolist() == other.truth.tolist()
    assert one.users.tolist() == other.users.tolist()


@pytest.mark.parametrize("labels", [None, ("c", "a", "b", "z")])
@pytest.mark.parametrize("person", [None, "who"])
def test_counts_that_are_read_are_those_of_the_records(tmp_path, labels, person):
    path = tmp_path / "epochs.csv"
    rows = [f"{'acb'[(i * i) % 3]},w{10 - i % 4},{i // 4}" for i in range(97)]
    path.write_text("answer,when,who\n" + "\n".join([*rows, ",w7,98"]) + "\n")
    reading = Reading(columns=("answer",), labels=labels, person=person, missing="drop")
    when = EpochColumn("when", None)
    whole = count_by_epoch(read_epochs(DataFile(path), reading, when))
    found = count_by_epoch(read_epoch_counts(DataFile(path), reading, when))
    same(found, whole)
    assert isinstance(found, EpochCounts)
    assert found.epochs == ("w7", "w8", "w9", "w10")
    assert found.answers == 97
    assert found.note == "Rows left out for a missing value: 1."


def test_moments_of_two_zones_are_counted_together(tmp_path):
    path = tmp_path / "epochs.csv"
    moments = "2024-01-01T01:00:00+01:00", "2024-01-02T00:00:00Z", "2024-01-01T00:00:00Z"
    rows = [f"{answer},{moment}" for moment in moments for answer in "aab"]
    path.write_text("answer,when\n" + "\n".join(rows) + "\n")
    reading, when = Reading(columns=("answer",)), EpochColumn("when", None)
    found = read_epoch_counts(DataFile(path), reading, when)
    same(found, count_by_epoch(read_epochs(DataFile(path), reading, when)))
    assert (found.epochs, found.truth.tolist()) == (moments[:2], [[4, 2], [2, 1]])


def test_an_order_by_letters_is_doubted_for_counts_too(tmp_path):
    path = tmp_path / "epochs.csv"
    rows = [f"{answer},{season}" for season in ("spring", "autumn") for answer in "aab"]
    path.write_text("answer,when\n" + "\n".join(rows) + "\n")
    reading, when = Reading(columns=("answer",)), EpochColumn("when", None)
    found = read_epoch_counts(DataFile(path), reading, when)
    same(found, count_by_epoch(read_epochs(DataFile(path), reading, when)))
    assert "sorted by their letters, as 'autumn'" in found.warning


@pytest.mark.parametrize("person", [None, "who"])
def test_epochs_in_a_given_order_without_rows_are_left_out(tmp_path, person):
    path = tmp_path / "epochs.csv"
    path.write_text(
        "answer,when,who\n" + "".join(f"{'ab'[i % 2]},w{i % 2},{i}\n" for i in range(9))
    )
    reading = Reading(columns=("answer",), person=person, rows_are_people=person is None)
    for order in (["w9", "w1", "w5", "w0"], ["w0", "w1", "w2", "w3"]):
        found = read_epoch_counts(DataFile(path), reading, EpochColumn("when", order))
        same(
            found, count_by_epoch(read_epochs(DataFile(path), reading, EpochColumn("when", order)))
        )
        assert set(found.epochs) == {"w0", "w1"}


@pytest.mark.parametrize("block", [40, 1 << 20])
def test_people_are_followed_from_batch_to_batch(tmp_path, block):
    """More than eight epochs, people of all numbers of them, names in two spellings of one text."""
    path = tmp_path / "epochs.csv"
    spelled = "cafe\u0301", "caf\u00e9"
    names = [f"{spelled[i % 2]}{i // 2}" for i in range(400)]
    rows = [
        f"{'ab'[i % 2]},{e},{names[(i + e) % 400]}"
        for e in range(1, 21)
        for i in range(0, 30 + e, 2)
    ]
    path.write_text("answer,when,who\n" + "\n".join(rows) + "\n", encoding="utf-8")
    file = DataFile(path, block=block)
    reading, when = (
        Reading(columns=("answer",), labels=("a", "b"), person="who"),
        EpochColumn("when", None),
    )
    found = read_epoch_counts(file, reading, when)
    assert isinstance(found, EpochCounts)
    same(found, count_by_epoch(read_epochs(file, reading, when)))
    assert max(found.attendance) > 8


@pytest.mark.parametrize("block", [40, 1 << 20])
@pytest.mark.parametrize("at", [1, 50, 89])
def test_a_second_answer_in_an_epoch_is_refused_by_its_row(tmp_path, block, at):
    path = tmp_path / "epochs.csv"
    rows = [f"{'ab'[i % 2]},{i // 10},{i % 10}" for i in range(90)]
    path.write_text("answer,when,who\n" + "\n".join([*rows, f"a,{at // 10},{at % 10}"]) + "\n")
    reading = Reading(columns=("answer",), person="who")
    with pytest.raises(DataError, match=f"row 91: expected one answer .* in epoch '{at // 10}'"):
        read_epoch_counts(DataFile(path, block=block), reading, EpochColumn("when", None))
    last = replace(reading, several=RowCombination.LAST)
    assert read_epoch_counts(DataFile(path), last, EpochColumn("when", None)).answers == 90


def test_an_answer_in_one_moment_of_two_zones_is_refused(tmp_path):
    path = tmp_path / "epochs.csv"
    moments = "2024-01-01T01:00:00+01:00", "2024-01-02T00:00:00Z", "2024-01-01T00:00:00Z"
    rows = [
        f"{'ab'[i % 2]},{moment},{i + 7 * n}" for n, moment in enumerate(moments) for i in range(8)
    ]
    text = "answer,when,who\n" + "\n".join(rows)
    path.write_text(text + "\n")
    reading, when = Reading(columns=("answer",), person="who"), EpochColumn("when", None)
    same(
        read_epoch_counts(DataFile(path), reading, when),
        count_by_epoch(read_epochs(DataFile(path), reading, when)),
    )
    path.write_text(f"{text}\na,{moments[2]},0\n")
    with pytest.raises(DataError, match="one answer per person and epoch"):
        read_epoch_counts(DataFile(path), reading, when)


def test_counts_keep_no_place_for_a_row(tmp_path, watch):
    path = tmp_path / "epochs.csv"
    path.write_text("answer,when\n" + "a,1\nb,1\na,2\nb,2\n" * 9)
    seen = watch(EpochTally, "add")
    found = read_epoch_counts(
        DataFile(path), Reading(columns=("answer",)), EpochColumn("when", None)
    )
    assert len(seen) == 1
    assert found.truth.tolist() == [[9, 9], [9, 9]]


def test_invented_counts_are_those_of_the_invented_records():
    first = Population(QUESTION, np.arange(300) % 3)
    rates = {"join": 0.2, "leave": 0.3, "change": 0.4}
    whole = count_by_epoch(simulate_turnover(first, 5, **rates, chance=SeededChance(1)))
    found = simulate_turnover_counts(first, 5, **rates, chance=SeededChance(1))
    same(found, whole)
    assert sum(found.attendance.values()) <= 600
    assert sum(k * people for k, people in found.attendance.items()) == found.answers
    other = simulate_turnover_counts(first, 5, **rates, chance=SeededChance(2))
    assert other.truth.tolist() != found.truth.tolist()


def test_crowds_whose_records_are_needed_stay_whole():
    numbers = Population(QUESTION, np.zeros(20, dtype=np.int64), values=np.arange(20.0))
    rates = {"join": 0.0, "leave": 0.0, "change": 0.0}
    whole = simulate_turnover_counts(numbers, 2, **rates, chance=SeededChance(1))
    assert count_by_epoch(whole) is whole
    assert not isinstance(whole, EpochCounts)


def test_a_tally_grows_with_epochs_and_labels():
    tally, chance = EpochTally(), SeededChance(1)
    wanted = np.zeros((9, 40), dtype=np.int64)
    for most in (1, 5, 2, 40, 33):
        at = draw_below(chance, min(most, 9), 50).astype(np.int32)
        labels = draw_below(chance, most, 50).astype(np.int32)
        tally.add(at, labels)
        np.add.at(wanted, (at, labels), 1)
    tally.add(at[:0], labels[:0])
    order = np.arange(9)[::-1].copy()
    assert tally.truth(order, np.arange(40), 41)[:, :40].tolist() == wanted[::-1].tolist()


def test_an_epoch_of_one_person_is_refused():
    with pytest.raises(DataError, match="epoch '2': expected at least two people, got 1"):
        EpochCounts(QUESTION, ("1", "2"), np.array([[2, 0, 0], [1, 0, 0]]))


@pytest.mark.parametrize(("last", "cut"), [(50, False), (49, True), (2, True)])
def test_data_that_end_in_the_middle_of_an_epoch_are_refused(last, cut):
    truth = np.array([[100, 0, 10], [100, 0, 0], [last, 0, 0]])
    data = EpochCounts(QUESTION, ("1", "2", "3"), truth)
    check_complete(EpochCounts(QUESTION, ("1", "3"), truth[1:]))  # two say nothing of a third
    if not cut:
        check_complete(data)
        return
    with pytest.raises(DataError, match=f"epoch '3': expected .* 100 or more, got {last},"):
        check_complete(data)


def test_sets_are_read_whole(tmp_path):
    path = tmp_path / "sets.csv"
    path.write_text("answer,when\n" + "a;b,1\nb,1\na,2\nb,2\n" * 9)
    reading = Reading(columns=("answer",), form=RecordType.SET, separator=";")
    found = read_epoch_counts(DataFile(path), reading, EpochColumn("when", None))
    assert not isinstance(found, EpochCounts)

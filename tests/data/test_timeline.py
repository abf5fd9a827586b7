"""Timelines: read in any order, refused where a person comes twice; invented turnover."""

import numpy as np
import pytest

from mixtally.errors import DataError, ParameterError
from mixtally.lab.data.epoch_names import order_of
from mixtally.lab.data.file import DataFile
from mixtally.lab.data.flights import flights_by_month
from mixtally.lab.data.population import Population
from mixtally.lab.data.readers import read_epochs
from mixtally.lab.data.reading import Reading
from mixtally.lab.data.timeline import EpochColumn, Timeline
from mixtally.lab.data.turnover import draw_events, simulate_turnover
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.question import Question

QUESTION = Question(name="color", bins=2, labels=("blue", "red"))


def read_timeline(path, column, epoch_column, person_column=None, order=None):
    reading = Reading(columns=(column,), person=person_column)
    return read_epochs(DataFile(path), reading, EpochColumn(epoch_column, order))


@pytest.fixture
def diary(tmp_path):
    """Writes rows of who, when, color and returns the file."""

    def write(*rows):
        path = tmp_path / "diary.csv"
        path.write_text("who,week,color\n" + "".join(f"{row}\n" for row in rows))
        return path

    return write


def test_rows_come_in_any_order_and_epochs_go_by_size(diary):
    path = diary("a,10,red", "a,2,blue", "b,10,red", "c,2,red", "b,2,red")
    found = read_timeline(path, "color", "week", person_column="who")
    assert found.epochs == ("2", "10")
    assert found.question == QUESTION
    assert found.users.tolist() == [3, 2]
    assert found.truth.tolist() == [[1, 2], [0, 2]]
    assert found.attendance == {1: 1, 2: 2}
    assert found.crowd(1).codes.tolist() == [1, 1]


def test_one_epoch_is_a_timeline(diary):
    found = read_timeline(diary("a,3,red", "b,3,blue"), "color", "week", person_column="who")
    assert (found.epochs, found.users.tolist()) == (("3",), [2])


def test_names_go_by_the_order_given(diary):
    path = diary("a,Mar,red", "b,Mar,red", "a,Jan,blue", "b,Jan,red", "a,Feb,red", "b,Feb,red")
    order = ("Dec", "Jan", "Feb", "Mar")
    found = read_timeline(path, "color", "week", order=order)
    assert found.epochs == order[1:]
    assert found.truth.tolist() == [[1, 1], [0, 2], [0, 2]]
    assert found.attendance is None
    with pytest.raises(DataError, match=r"row 5: expected one of the 2 labels"):
        read_timeline(path, "color", "week", order=("Jan", "Mar"))


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            ("a,1,red", "b,1,blue", "a,2,red", "b,2,red", "a,1,red"),
            r"row 5: .* a second one in epoch '1'",
        ),
        (("a,1,red", "b,1,blue", "c,2,red"), r"epoch '2': expected at least two people, got 1"),
        (("a,1,red", "b,01,blue", "a,2,red"), r"got '1' and '01' for the same|'01' and '1'"),
        (("a,1,red", "b,,blue"), r"row 2: .* column 'week'"),
    ],
)
def test_what_breaks_the_promise_or_the_order_is_refused(diary, rows, said):
    with pytest.raises(DataError, match=said):
        read_timeline(diary(*rows), "color", "week", person_column="who")


def test_an_order_knows_only_its_own_names():
    assert sorted(["3", "20", "-1"], key=order_of(["3", "20", "-1"])) == ["-1", "3", "20"]
    assert sorted(["3", "20", "x"], key=order_of(["3", "20", "x"])) == ["20", "3", "x"]
    with pytest.raises(DataError, match="'spring'"):
        order_of(["spring"], ["summer"])


def test_the_flights_that_ship_are_those_of_twelve_months():
    """The months' sums are those of the source's own documentation; the rows keep their order."""
    found = flights_by_month()
    assert found.epochs[::11] == ("2013-01", "2013-12")
    assert found.users.tolist() == [
        27004, 24951, 28834, 28330, 28796, 28243, 29425, 29327, 27574, 28889, 27268, 28135
    ]  # fmt: skip
    assert len(found.codes) == 336_776
    # Half of the summer's flights to the islands leave in July and August, none in January.
    islands = found.truth[:, found.question.labels.index("ACK")]
    assert islands[0] == 0
    assert islands[6:8].sum() > islands.sum() / 2


def crowd(size=40_000):
    return Population(QUESTION, (np.arange(size) % 4 == 0).astype(np.int64))


def test_people_come_go_and_change_at_their_rates():
    """Every share within six standard errors: false alarm below 1e-7 in all; fixed seed."""
    found = simulate_turnover(crowd(), 3, join=0.2, leave=0.1, change=0.3, chance=SeededChance(5))
    here = [set(found.people[found.epoch_of_answer == e].tolist()) for e in range(3)]
    value = [dict(zip(found.people[found.epoch_of_answer == e].tolist(),
        found.codes[found.epoch_of_answer == e].tolist(),
                      strict=True)) for e in range(3)]  # fmt: skip
    pool = set(range(80_000))
    for before, after in ((0, 1), (1, 2)):
        stay = here[before] & here[after]
        moved = np.mean([value[before][p] != value[after][p] for p in stay])
        for share, rate, size in (
            (1 - len(stay) / len(here[before]), 0.1, len(here[before])),
            (len(here[after] - here[before]) / len(pool - here[before]), 0.2, 40_000),
            (moved, 0.3 * 2 * 0.25 * 0.75, len(stay)),
        ):
            assert abs(share - rate) < 6 * (rate * (1 - rate) / size) ** 0.5
    assert here[2] & (here[0] - here[1])  # somebody came back


def test_a_crowd_that_nobody_joins_leaves_or_changes_stays_as_it_is():
    found = simulate_turnover(
        crowd(100), 4, join=0.0, leave=0.0, change=0.0, chance=SeededChance(5)
    )
    assert all(np.array_equal(found.crowd(e).codes, crowd(100).codes) for e in range(4))
    assert found.attendance == {4: 100}


def test_certain_and_impossible_events_are_that():
    assert draw_events(1.0, 1000, SeededChance(1)).all()
    assert not draw_events(0.0, 1000, SeededChance(1)).any()


@pytest.mark.parametrize(
    ("epochs", "rates"),
    [(1, {}), (1001, {}), (3, {"join": 1.1}), (3, {"leave": -0.1}), (3, {"change": float("nan")})],
)
def test_impossible_turnovers_are_refused(epochs, rates):
    with pytest.raises(ParameterError):
        simulate_turnover(
            crowd(10), epochs, **({"join": 0.1, "leave": 0.1, "change": 0.1} | rates),
            chance=SeededChance(1),
        )  # fmt: skip


def test_a_crowd_that_all_left_is_refused():
    with pytest.raises(DataError, match="at least two people, got 0"):
        simulate_turnover(crowd(10), 2, join=0.0, leave=1.0, change=0.0, chance=SeededChance(1))


def test_the_same_person_in_two_epochs_is_no_repeat():
    fine = Timeline(QUESTION, ("1", "2"), np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1]),
                    np.array([0, 1, 1, 0]))  # fmt: skip
    assert fine.first_repeat() is None

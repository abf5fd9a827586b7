"""First rows that repeat the heading, last rows of totals, and counts that add up all others."""

import pytest

import mixtally
from helpers.data_files import people
from mixtally.errors import DataError
from mixtally.lab.data.file import DataFile
from mixtally.lab.data.readers import read_counts, read_population
from mixtally.lab.data.reading import Reading

ROWS = [("NS"[i % 2], ["yes", "no", "maybe"][i % 3]) for i in range(60)]


@pytest.fixture
def table(tmp_path):
    """A file of sixty people with rows before and after them."""

    def written(*, before=(), after=(), head="region,answer"):
        path = tmp_path / "data.csv"
        rows = [*before, *(",".join(row) for row in ROWS), *after]
        path.write_text("\n".join([head, *rows]) + "\n")
        return path

    return written


@pytest.mark.parametrize("name", ["Total", "TOTAL:", "Grand total", "Gesamt", "Total (n=60)"])
def test_a_total_in_any_column_of_the_last_row_is_warned_of(table, name):
    told = people(table(after=[f"{name},60"]), "answer").warning
    assert told == (
        f"the last row has {name!r} in column 'region' and looks like a total: if so, remove it"
    )
    given = people(table(after=[f"{name},yes"]), "answer", labels=("yes", "no", "maybe"))
    assert "looks like a total" in given.warning
    told = people(table(after=[f"N,{name}"]), "answer").warning
    assert told == f"the last row, {name!r}, looks like a total: if so, remove it"


def test_other_last_rows_are_people(table):
    for last in ("N,yes", "Totally,yes", "N,total waste"):
        told = people(table(after=[last, "N,yes"]), "answer").warning
        assert told == ""
    every = people(table(before=["Total,yes"], after=["Total,yes"]), "answer")
    assert every.warning == ""  # the first row has it too: it is a region of this name
    listed = people(table(after=["N,total"]), "answer", labels=("yes", "no", "maybe", "total"))
    assert listed.warning == ""


def test_a_total_that_no_label_names_is_refused_with_what_to_do(table):
    with pytest.raises(DataError, match=r"row 61: .*'Total'\. Remove the row if it is a total"):
        people(table(after=["N,Total"]), "answer", labels=("yes", "no", "maybe"))


@pytest.mark.parametrize("heading", ["Response", "Answer in words", "q17"])
def test_a_value_of_the_first_row_alone_may_repeat_the_heading(table, heading):
    told = people(table(before=[f"N,{heading}"]), "answer").warning
    assert told == (
        f"the first row alone has the value {heading!r}: if it repeats the heading, "
        "say --skip-rows 1"
    )
    told = people(table(after=[f"N,{heading}"]), "answer").warning
    assert told == f"the last row alone has the value {heading!r}: if it is a total, remove it"
    middle = people(table(after=[f"N,{heading}", "N,yes"]), "answer")
    assert middle.warning == ""
    several = people(table(before=["N,a", "N,b"]), "answer")  # rare answers are nothing special
    assert several.warning == ""
    with pytest.raises(DataError, match="if the row repeats the heading, say --skip-rows 1"):
        people(table(before=[f"N,{heading}"]), "answer", labels=("yes", "no", "maybe"))


def test_a_heading_of_choices_is_found_by_what_its_row_lacks(tmp_path):
    """In exports with a column a choice, cells repeat the choice, as does a second heading."""
    rows = [
        f"{100 + i % 7},{'apple' if i % 3 else ''},{'pear' if i % 2 else ''}" for i in range(60)
    ]
    path = tmp_path / "data.csv"
    path.write_text("\n".join(["wave,Fruit?,", ",apple,pear", *rows]) + "\n")
    for more in ({"missing": "no"}, {"missing": "no", "labels": ("apple", "no")}):
        assert people(path, "Fruit?", **more).warning == (
            "the first row alone has no value in column 'wave': if it repeats the heading, "
            "say --skip-rows 1"
        )
    path.write_text("\n".join(["wave,Fruit?,", ",apple,pear", *rows, ",apple,"]) + "\n")
    assert people(path, "Fruit?", missing="no").warning == ""


def test_the_advice_counts_rows_that_are_skipped_already(table):
    file = DataFile(table(before=["title,title", "N,Response"]), skip_rows=1)
    told = read_population(file, Reading(columns=("answer",)), None, lambda *_: None).warning
    assert told.endswith("if it repeats the heading, say --skip-rows 2")


def counted(tmp_path, *rows, **more):
    path = tmp_path / "counts.csv"
    path.write_text("\n".join(["answer,n", *rows]) + "\n")
    reading = Reading(columns=("answer",), **more)
    return read_counts(DataFile(path), reading, "n", None, lambda *_: None)


def test_a_row_of_counts_that_adds_up_all_others(tmp_path):
    rows = ["yes,400", "no,300", "maybe,50"]
    assert counted(tmp_path, *rows).warning == ""
    for place in (0, 3):
        every = [*rows[:place], "Total,750", *rows[place:]]
        with pytest.raises(DataError, match=f"row {place + 1}: .* got 'Total' with 750 people"):
            counted(tmp_path, *every)
        other = [*rows[:place], "everybody,750", *rows[place:]]
        assert counted(tmp_path, *other).warning.endswith(
            f"row {place + 1}, 'everybody' with 750 people, is the sum of all other rows: if it "
            "is a total, remove it"
        )
    given = counted(tmp_path, *rows, "Total,750", labels=("yes", "no", "maybe", "Total"))
    assert "is the sum of all other rows" in given.warning
    off = counted(tmp_path, *rows, "Total,751")
    assert off.warning == "the last row, 'Total', looks like a total: if so, remove it"
    assert counted(tmp_path, "yes,300", "no,300", "maybe,0").warning == ""


def test_totals_in_python():
    how = {"epsilon": 1, "delta": 1e-6, "seed": 1}
    with pytest.raises(mixtally.MixtallyError, match=r"values\[3\]: .* sum of all other rows"):
        mixtally.simulate(["a", "b", "c", "Total"], counts=[400, 300, 50, 750], **how)
    found = mixtally.simulate(["Response", *["a", "b"] * 500], **how)
    assert "if it repeats the heading, leave it out: values[1:]" in found.note

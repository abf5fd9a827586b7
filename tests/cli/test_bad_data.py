"""Data that cannot be counted as they are asked for: one line, status 2, nothing written."""

import datetime

import pytest

from helpers.data_files import BOOK, GOOD, LINES, PARQUET, WESTERN, in_parquet

ASKED = ("--epsilon", 1, "--delta", "1e-6")

TOLD = {
    "a wrong encoding": (WESTERN, ("--encoding", "ascii"), "expected text in ascii"),
    "an unknown encoding": (GOOD, ("--encoding", "nope"), "the name of a text encoding"),
    "a wrong delimiter": (GOOD, ("--delimiter", ";"), "Say --delimiter ','"),
    "a delimiter of two": (GOOD, ("--delimiter", ";;"), "one ASCII character"),
    "a sheet of CSV": (GOOD, ("--sheet", "A"), "--sheet: expected a file that needs it"),
    "a delimiter of Parquet": (PARQUET, ("--delimiter", ";"), "expected a file that needs it"),
    "an encoding of Excel": (BOOK, ("--encoding", "cp1252"), "expected a file that needs it"),
    "a delimiter of JSON": (
        LINES,
        ("--delimiter", ";"),
        "which is JSON lines. Leave the option out",
    ),
    "no such sheet": (BOOK, ("--sheet", "Data"), "expected a sheet 'Data', got 'Sheet1'"),
    "no such person": (GOOD, ("--person-column", "who"), "expected a column 'who'"),
    "several rows of a person": (
        GOOD,
        ("--person-column", "no"),
        "row 3: expected one row per person, got a second one, after row 1. Choose which row "
        "counts",
    ),
    "several of nobody": (GOOD, ("--several", "first"), "expected --person-column with it"),
    "an unknown choice of several": (
        GOOD,
        ("--person-column", "no", "--several", "any"),
        "several: expected one of first, last, set",
    ),
    "a set of numbers": (
        GOOD,
        ("--number", "0,9", "--person-column", "no", "--several", "set"),
        "several: expected first or last for records of type 'number'",
    ),
    "an invisible label for gaps": (GOOD, ("--missing", " "), "a label that is not blank"),
    "gaps and empty sets": (
        GOOD,
        ("--set", ";", "--empty-sets", "--missing", "drop"),
        "together with empty sets",
    ),
    "nobody left": (b"no,color\n1,\n2,\n", ("--missing", "drop"), "two rows, got none"),
    "bits that are none": (GOOD, ("--as", "bits"), "row 1, column 'color': expected 0 or 1"),
    "a bit that is none in Parquet": (
        in_parquet({"color": [0, 1, 2]}),
        ("--as", "bits"),
        "row 3, column 'color': expected 0 or 1",
    ),
    "bits of another length": (
        b"color\n0101\n010\n",
        ("--as", "bits"),
        "row 2: expected 4 bits, got 3",
    ),
    "numbers that are text": (
        GOOD,
        ("--number", "0,9"),
        "row 1: expected a finite number, got 'red'",
    ),
    "a decimal comma": (b"no;color\n1;2,5\n", ("--number", "0,9"), "Write it like 1234.5"),
    "text among numbers of JSON": (
        b'{"color": 1}\n{"color": "two"}\n',
        ("--number", "0,9"),
        "row 2: expected a finite number, got 'two'",
    ),
    "truth among numbers of JSON": (
        b'{"color": 1}\n{"color": true}\n',
        ("--number", "0,9"),
        "row 2, column 'color': expected values of one type: a number as before, got the truth",
    ),
    "a day among numbers of Parquet": (
        in_parquet({"color": [datetime.date(2024, 1, 2)]}),
        ("--number", "0,9"),
        "row 1: expected a finite number, got '2024-01-02'",
    ),
    "an infinity of Parquet": (
        in_parquet({"color": [1.0, float("inf")]}),
        ("--number", "0,9"),
        "row 2: expected a finite number, got 'inf'",
    ),
}


@pytest.mark.parametrize("case", TOLD)
def test_options_that_do_not_fit_the_data_are_refused(refuses, case):
    content, options, said = TOLD[case]
    assert said in refuses(content, *options)


def test_a_value_without_a_label_is_refused_by_row(refuses, tmp_path):
    labels = tmp_path / "labels"
    labels.write_text("red\nteal\n")
    assert "row 2: expected one of the 2 labels" in refuses(GOOD, "--labels", labels)


@pytest.mark.parametrize("text", ["red\nblue\nred\n", "red\n\nblue\n", ""])
@pytest.mark.parametrize(
    "command", ["simulate", "simulate --winner", "simulate memoized", "simulate epochs"]
)
def test_labels_are_distinct_text(refused, tmp_path, command, text):
    labels, path = tmp_path / "labels", tmp_path / "data.csv"
    labels.write_text(text)
    path.write_bytes(GOOD)
    more = {"simulate memoized": (), "simulate epochs": (*ASKED, "--synthetic", 3)}.get(
        command, ASKED
    )
    name, *flags = command.split(" --")
    more = (*more, *(f"--{flag}" for flag in flags))
    line = refused(name, path, "--column", "color", "--labels", labels, *more)
    assert f"{labels}: expected distinct printable labels" in line


@pytest.mark.parametrize("most", [0, -1, 17])
def test_the_most_labels_of_a_set_are_at_least_one(refuses, most):
    line = refuses(GOOD, "--set", ";", "--max-set", most)
    assert "max set: expected an integer in [1, 16]" in line


@pytest.mark.parametrize("cell", [b"inf", b"-Infinity", b"1e400", b"2024-01-01", b'"1,000"'])
def test_what_is_no_finite_number_is_refused(refuses, cell):
    content = b"color\n" + b"1\n2\n" * 500 + cell + b"\n"
    assert "row 1001: expected a finite number" in refuses(content, "--number", "0,9")


@pytest.mark.parametrize("level", [0, 1, -1, 2, "nan"])
def test_a_confidence_level_outside_0_to_1_is_refused(refuses, level):
    assert "confidence level: expected" in refuses(GOOD, "--level", level)


def test_an_unknown_projection_is_refused(refuses):
    assert "projection: expected one of simplex, got 'cube'" in refuses(GOOD, "--project", "cube")


@pytest.mark.parametrize("bad", [("--level", 0), ("--project", "cube")])
def test_a_bad_option_is_refused_before_the_collection_is_played(refuses, monkeypatch, bad):
    def play(*_, **__):
        pytest.fail("a whole collection was played in vain")

    monkeypatch.setattr("mixtally.lab.simulation.run.play", play)
    refuses(GOOD, *bad)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--protocol", "nope"), "protocol: expected"),
        (("--honest-share", 0), "honest share: expected"),
        (("--fakes-per-user", 1, "--messages-per-user", 2), "budget: expected"),
        (("--fakes-per-user", -1), "fakes per user: expected a number of at least 0, got -1"),
        (("--fakes-per-user", "nan"), "fakes per user: expected a number of at least 0, got nan"),
        (("--epsilon", 0), "epsilon: expected"),
        (("--delta", 0.2), "delta: expected"),
        (("--protocol", "clear-uniform", "--messages-per-user", 1), "clear-uniform needs"),
    ],
)
def test_a_bad_wish_is_refused(refuses, more, said):
    assert said in refuses(GOOD, *more)


@pytest.mark.parametrize("given", [(), ("--epsilon", 1), ("--delta", "1e-6")])
def test_half_a_guarantee_is_refused(refused, crowd, given):
    line = refused("simulate", crowd / "crowd.csv", "--column", "color", *given)
    assert "expected both --epsilon and --delta, or a plan" in line


def test_empty_lines_at_the_end_of_labels_are_harmless(cli, tmp_path):
    labels, path = tmp_path / "labels", tmp_path / "data.csv"
    labels.write_text("red\nblue\n\n\n")
    path.write_bytes(GOOD)
    done = cli("simulate", path, "--column", "color", "--labels", labels, *ASKED, "--json")
    assert done.status == 0

"""The parts that many messages share: conflicts of options, errors of libraries, plurals."""

import pytest

from mixtally.errors import InputError, describe_error, join_words, not_together, pluralize


def test_a_conflict_names_both_sides_and_what_to_leave_out():
    assert str(not_together("--seed", "--seed", ["--state"])) == (
        "--seed: expected --seed without --state, got both. Leave --state out."
    )
    assert str(not_together("plan", "a plan", ["--epsilon", "--delta"])) == (
        "plan: expected a plan without --epsilon and --delta, got all of these. "
        "Leave --epsilon and --delta out."
    )


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (FileNotFoundError(2, "No such file or directory", "Tea.csv"), "no such file or directory"),
        (IsADirectoryError(21, "Is a directory", "Tea"), "a folder"),
        (OSError("a device, pipe or socket"), "a device, pipe or socket"),
        (ValueError("Couldn't read\n the page."), "couldn't read the page"),
        (ValueError("Parquet magic bytes not found"), "Parquet magic bytes not found"),
        (ValueError("JSON is malformed"), "JSON is malformed"),
        (ValueError("Tea.csv: expected one label"), "Tea.csv: expected one label"),
        (ValueError(""), ""),
    ],
)
def test_an_error_of_a_library_becomes_part_of_a_sentence(error, text):
    assert describe_error(error) == text
    assert InputError("tea", expected="a file", got=error, do="look").got == text


def test_a_name_that_was_given_keeps_its_case():
    error = InputError("tea", expected="a label", got="No such label", do="choose --label Tea")
    assert str(error) == "tea: expected a label, got No such label. Choose --label Tea"


def test_lists_and_plurals():
    found = [join_words(["a", "b", "c"][:n]) for n in range(4)]
    assert found == ["", "a", "a and b", "a, b and c"]
    assert [pluralize(n, "bin") for n in (0, 1, 2000)] == ["0 bins", "1 bin", "2,000 bins"]
    assert pluralize(1, "person", "people") == "1 person"
    assert pluralize(2, "person", "people") == "2 people"

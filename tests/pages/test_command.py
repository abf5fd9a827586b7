"""A page says by which command it was made, as it can be typed again, and not in whose folder."""

import shlex

from mixtally.cli.display import format_command


def test_a_command_can_be_typed_again():
    words = ["simulate", "my survey.csv", "--column", "it's", "--labels", "a/b"]
    assert shlex.split(format_command(words)) == ["mixtally", *words]


def test_folders_are_left_out():
    words = ["simulate", "/home/planted/survey.csv", "--plan=/home/planted/p.json", "--set", ";"]
    assert format_command(words) == "mixtally simulate survey.csv --plan=p.json --set ';'"


def test_where_its_files_went_is_left_out():
    """So a seed gives the same bytes in every folder."""
    for out in (["--out", "here"], ["--out=there"], []):
        assert format_command(["demo", *out, "--seed", "1"]) == "mixtally demo --seed 1"

"""A page says by which command it was made, as it can be typed again, and not in whose folder."""

import shlex

from mixtally.cli.screen import command


def test_a_command_can_be_typed_again():
    words = ["simulate", "my survey.csv", "--column", "it's", "--labels", "a/b"]
    assert shlex.split(command(words)) == ["mixtally", *words]


def test_folders_are_left_out():
    words = ["simulate", "/home/planted/survey.csv", "--out=/home/planted/out", "--set", ";"]
    assert command(words) == "mixtally simulate survey.csv --out=out --set ';'"

"""A column that there is not is told beside those that there are, whatever option names it."""

import pytest

PROMISE = ("--epsilon", 1, "--delta", "1e-6")
BOX = ("--box=41,43,-75,-72", "--resolution", 4)
WRONG = {
    "--column": ("simulate", "diary.csv", "--column", "colour"),
    "--columns": ("simulate", "survey.csv", "--columns", "fruit,answers", "--as", "attributes"),
    "--person-column": ("simulate", "diary.csv", "--column", "color", "--person-column", "whom"),
    "--counts": ("simulate", "counted.csv", "--column", "answer", "--counts", "peopel"),
    "--epoch-column": (
        "simulate epochs", "diary.csv", "--column", "color", "--epoch-column", "weeks",
    ),
    "--latitude": (
        "simulate places", "homes.csv", "--latitude", "latt", "--longitude", "lon", *BOX,
    ),
    "--longitude": (
        "simulate places", "homes.csv", "--latitude", "lat", "--longitude", "long", *BOX,
    ),
}  # fmt: skip


@pytest.mark.parametrize("option", WRONG)
def test_a_column_is_listed_with_the_nearest(cli, refused, tmp_path, option):
    cli("example", "--all", tmp_path)
    command, data, *given = WRONG[option]
    if command == "simulate places":
        pytest.importorskip("h3")
    line = refused(*command.split(), tmp_path / data, *given, *PROMISE)
    assert f"{data}: expected a column '" in line
    assert "got the columns '" in line
    assert ". Did you mean '" in line

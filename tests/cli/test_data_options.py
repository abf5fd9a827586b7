"""Every command that reads data takes the same options: how, without what, whose."""

import json
import subprocess
import sys

import pytest
import typer

from helpers.data_files import in_every_format
from mixtally.cli.app import COMMANDS as COMMAND_LINE
from mixtally.cli.app import app

GROUP = typer.main.get_command(app)
OPTIONS = {"--delimiter", "--encoding", "--sheet", "--missing", "--person-column", "--several"}
PROMISE = ("--epsilon", 2, "--delta", "1e-4", "--seed", 1)
COMMANDS = {
    "simulate": PROMISE,
    "simulate words": (*PROMISE, "--top", 1, "--longest", 2, "--messages-per-user", 30),
    "simulate memoized": ("--seed", 1),
    "simulate epochs": (*PROMISE, "--synthetic", 2),
}
OTHERS = ("simulate baskets", "simulate places")
"""Read sets and pairs of columns, which their own tests try."""
PEOPLE = 600


@pytest.fixture
def crowd(tmp_path):
    """Half of the people answer twice, and the last one not at all."""
    path = tmp_path / "crowd.csv"
    rows = [f"p{i},{'no' if i % 3 else 'yes'}" for i in range(PEOPLE)]
    rows += [f"p{i},yes" for i in range(0, PEOPLE, 2)]
    path.write_text("\n".join(["who;answer", *(row.replace(",", ";") for row in rows), "pq;"]))
    return path


@pytest.mark.parametrize("command", [*COMMANDS, *OTHERS])
def test_every_command_that_reads_data_has_the_options(command):
    names = {option for one in GROUP.get_command(None, command).params for option in one.opts}
    assert names >= OPTIONS


def test_no_other_command_reads_data():
    def takes_data(name):
        return any(one.name == "data" for one in GROUP.get_command(None, name).params)

    assert {name for name in COMMAND_LINE if takes_data(name)} - {"batch randomize"} == {
        *COMMANDS,
        *OTHERS,
    }


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_sees_people(refused, cli, crowd, command):
    asked = (command, crowd, "--column", "answer", *COMMANDS[command])
    assert "row 901: expected a value in column 'answer'" in refused(*asked)
    asked += ("--missing", "drop", "--person-column", "who")
    assert "row 601: expected one row per person, got a second one, after row 1" in refused(*asked)
    assert "several: expected one of first, last, set" in refused(*asked, "--several", "all")
    if command == "simulate":
        played = cli(*asked, "--several", "first", "--json")
        assert (played.status, played.err) == (0, "")
        source = json.loads(played.out)["source"]
        assert source.startswith(
            f"{PEOPLE} rows of crowd.csv, one person each. Rows left out for a missing "
            "value: 1. Further rows of a person, left out for the first: 300."
        )


@pytest.mark.parametrize("command", sorted(COMMANDS.keys() - {"simulate"}))
def test_only_sets_are_made_of_rows(refused, crowd, command):
    asked = (command, crowd, "--column", "answer", *COMMANDS[command], "--missing", "drop")
    asked += ("--person-column", "who", "--several", "set")
    if command == "simulate epochs":
        return  # which counts sets as well
    assert "several: expected first or last for records of type 'one', got set" in refused(*asked)


@pytest.mark.seconds
def test_rows_of_a_person_become_a_set(cli, crowd):
    played = cli(
        "simulate", crowd, "--column", "answer", *PROMISE, "--missing", "drop",
        "--person-column", "who", "--several", "set", "--messages-per-user", 30, "--json",
    )  # fmt: skip
    found = json.loads(played.out)
    assert played.status == 0
    truth = {row["label"]: row["truth"] for row in found["releases"][0]["estimates"]}
    assert truth == {"no": 400, "yes": 400}


@pytest.mark.parametrize("command", ["simulate", "simulate memoized"])
def test_a_likely_column_of_people_is_told_on_standard_error(cli, crowd, command):
    crowd.write_text(crowd.read_text().rstrip("pq;"))
    played = cli(command, crowd, "--column", "answer", *COMMANDS[command], "--json")
    assert played.status == 0
    assert json.loads(played.out)
    assert played.err == (
        "mixtally: warning: column 'who' has the same values in several rows and seems to identify "
        "people: rows may not be people; name it with --person-column, or say --rows-are-people if "
        "they are\n"
    )


@pytest.mark.parametrize("name", in_every_format({"no": [1], "answer": ["yes"]}))
def test_every_format_comes_through_a_pipe(cli, tmp_path, piped, name):
    data = in_every_format({"no": list(range(400)), "answer": ["yes", "no"] * 200})[name]
    (tmp_path / name).write_bytes(data)
    read = cli("simulate memoized", tmp_path / name, "--column", "answer", "--seed", 1, "--json")
    piped(data)
    through = cli("simulate memoized", "-", "--column", "answer", "--seed", 1, "--json")
    assert (read.status, through.status) == (0, 0)
    one, other = json.loads(read.out), json.loads(through.out)
    assert other.pop("source") == "400 rows of the standard input, one person each."
    assert one.pop("source") == f"400 rows of {name}, one person each."
    assert one == other


def test_the_example_of_a_vote_brings_its_own_rows(refused):
    line = refused("simulate", "--example", "--missing", "drop", "--seed", 1)
    assert "expected --example without --missing, got both" in line


def test_memoized_answers_take_the_options_of_rows(cli, crowd):
    asked = ("simulate memoized", crowd, "--column", "answer", "--seed", 1, "--json")
    played = cli(*asked, "--missing", "drop", "--person-column", "who", "--several", "last")
    assert played.status == 0
    assert json.loads(played.out)["source"].startswith("600 rows of crowd.csv")


@pytest.mark.seconds
def test_who_reads_no_file_loads_no_reader():
    program = (
        "import sys\n"
        "from mixtally.lab.data.flights import flights\n"
        "import mixtally.cli.simulate, mixtally.cli.plan, mixtally.lab.data.readers\n"
        "assert flights().users == 336_776\n"
        "print({'pyarrow', 'python_calamine'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("set()\n", "")

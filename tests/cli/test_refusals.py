"""Every refusal names what was given, in one line, and says what to do."""

import json

import pytest

PROMISE = ("--epsilon", 1, "--delta", "1e-6")
PLAN = ("plan", *PROMISE, "--users", "1e4")
CROWD = ("simulate", "crowd.csv", "--column", "color", *PROMISE, "--seed", 1)
LABELED = (*CROWD, "--labels", "colors.txt")
MEMORY = ("--protocol", "memory", "--p", 0.5, "--q", 0.75, "--hashes", 1, "--reports", 5)


@pytest.fixture
def here(crowd, monkeypatch):
    monkeypatch.chdir(crowd)
    return crowd


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (("simulate words", "x.csv", "--column", "w", *PROMISE, "--way", "up"),
         "way: expected together"),
        (("simulate",), "simulate: expected DATA, got none. See `mixtally simulate --help`"),
        ((*CROWD, "--top", 0), "expected a value of --top that is in the range x>=1, got 0. See"),
        (("plan", "--nope"), "See `mixtally plan --help`"),
        (("budget", "nope"), "See `mixtally budget --help`"),
        (("nope",), "expected one of the commands, got nope"),
        (("simulate", "crowd.csv", "color"), "simulate: expected no further argument, got color"),
        (("simulate", "crowd.csv", "--column"), "expected --column with a value, got none"),
        (("simulate", "crowd.csv", "--json=3"), "expected --json without a value, got one"),
        (("simulate memoized", "crowd.csv", "--column", "color", "--bloom-bits", 64, "--hashes", 0),
         "hashes: expected an integer in [1, 16], got 0"),
        (("simulate memoized", "crowd.csv", "--column", "color", "--bloom-bits", 8, "--hashes", 9),
         "hashes: expected an integer in [1, 8], got 9"),
        ((*PLAN, "--bins", 10, "--protocol", "memory"), "`mixtally simulate memoized`"),
        ((*CROWD, "--winner", "--protocol", "memory"),
         "`mixtally simulate memoized`"),
        (("simulate epochs", "crowd.csv", "--column", "color", "--synthetic", 2, *PROMISE,
          "--protocol", "memory"), "`mixtally simulate memoized`"),
        ((*PLAN, "--bits", 1, "--protocol", "flip"), "one alone is flipped by single-bit"),
        ((*CROWD, "--protocol", "memory"), "`mixtally simulate memoized`"),
        ((*PLAN, "--bins", 10, "--hash-seed", "0" * 32),
         "--hash-seed: expected --open with it, got none"),
        ((*PLAN, "--open", "--target-error", 1, "--mix-fakes"),
         "at 1000 messages per user. Ask for more than that, raise epsilon, or allow --mix-fakes"),
        ((*PLAN, "--open", "--bins", 10),
         "expected --bins or --labels, --attributes, --bits, or --open"),
        ((*PLAN, "--bins", 100, "--target-error", 1, "--protocol", "flip"),
         "raise epsilon, or leave --protocol out"),
        (("check noise", "--protocol", "clear-shaped", "--shape-shift", 20, *PROMISE),
         "expected no value for --shape-shift, because it is computed, got a value. Leave"),
        (("check formula", "--formula", "notes-5.26", "--users", "1e6", *PROMISE),
         "notes-5.26: expected the number of fakes, got none. Add --fakes N"),
        (("check noise", *MEMORY, *PROMISE, "--honest-share", 0.5), "--honest-share: expected"),
        (("check noise", "--protocol", "clear-shaped", *PROMISE, "--honest-share", 0.5),
         "--honest-share: expected"),
    ],
)  # fmt: skip
def test_a_refusal_is_one_line_that_says_what_to_do(here, refused, call, said):
    assert said in refused(*call)


def test_an_open_domain_reaches_a_wanted_error_by_messages(cli):
    done = cli(*PLAN, "--open", "--target-error", 10, "--json")
    assert done.status == 0, done.err
    facts = json.loads(done.out)
    assert 9.9 < facts["standard_error_at"] <= 10
    assert 1.2 < facts["messages_per_user"] < 2


def test_a_call_without_anything_is_answered_by_help(cli):
    done = cli()
    assert (done.status, done.out) == (2, "")
    assert "Usage: mixtally" in done.err


@pytest.mark.parametrize("more", [("--column", "color"), ("--column", "color", "--set", ";")])
def test_labels_that_differ_only_by_spaces_are_refused(here, refused, more):
    (here / "spaced.csv").write_text("color\nNew York\nLima\nNew  York\n")
    line = refused("simulate", "spaced.csv", *more, *PROMISE)
    assert "'New York' and 'New  York'. Write it in one way" in line
    (here / "labels.txt").write_text(" red\nred\n")
    assert "'red' and ' red'" in refused(*PLAN, "--labels", "labels.txt")
    (here / "labels.txt").write_text(" red\nred \n")
    assert "' red' and 'red '" in refused(*PLAN, "--labels", "labels.txt")


@pytest.mark.seconds
def test_files_of_an_earlier_result_are_told_and_left(here, cli):
    assert cli(*LABELED, "--out", "out").err == ""
    assert cli(*LABELED, "--out", "out", "--protocol", "flip-blank").err == ""
    game = ("--only", "n-1", "--runs", 200, "--seed", 1)
    done = cli("check attack", "out/plan.json", *game, "--out", "out")
    assert done.status == 0
    assert done.err == (
        "mixtally: note: out also contains plan.json, simulation/estimates.csv, "
        "simulation/report.html, simulation/result.json from an earlier run. These files are not "
        "part of this result\n"
    )
    assert (here / "out" / "simulation" / "estimates.csv").is_file()


def test_the_ratio_of_the_largest_crowd_has_a_tail(cli):
    done = cli(
        "check sufficient", "--users", "1e10", "--bits", 1, "--epsilon", 1, "--flip", 0.1, "--json"
    )
    assert done.status == 0, done.err
    facts = json.loads(done.out)
    assert 0.0 <= facts["eta_lower"] <= facts["eta"] < 1e-40


def test_a_ledger_goes_on_by_one_epoch(here, cli):
    rows = [f"p{i},{week},{'red' if i % 3 else 'blue'}" for week in (1, 2) for i in range(800)]
    for name, some in (("first.csv", rows[:800]), ("second.csv", rows[800:])):
        (here / name).write_text("who,week,color\n" + "\n".join(some) + "\n")
    assert cli("budget", "open", "book.json", "--epsilon", 3, "--delta", "1e-5").status == 0
    shared = ("--column", "color", "--epoch-column", "week", "--person-column", "who", *PROMISE)
    for name, week in (("first.csv", "1"), ("second.csv", "2")):
        done = cli(
            "simulate epochs", name, *shared, "--ledger", "book.json", "--json", "--out", "weeks"
        )
        assert done.status == 0, done.err
        facts = json.loads(done.out)
        assert [epoch["epoch"] for epoch in facts["epochs"]] == [week]
        assert facts["changes"] == []
    assert cli("simulate epochs", "second.csv", *shared).status == 0
    shown = json.loads(cli("budget", "show", "book.json", "--json").out)
    assert len(shown["charges"]) == 2


@pytest.mark.parametrize("given", [("--nope",), ("nope",), ("plan", "--nope"), ("budget", "nope")])
def test_a_refusal_says_the_name_of_the_program_once(cli, given):
    """The subject of a refusal is the whole command where no command was reached."""
    (line,) = cli(*given).err.splitlines()
    assert line.startswith("mixtally: ")
    assert not line.startswith("mixtally: mixtally: ")

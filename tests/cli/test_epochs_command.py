"""``mixtally simulate epochs``: what is printed and written; refusals send nothing."""

import json

import pytest

from mixtally.cli.output import publish
from mixtally.errors import DataError
from mixtally.lab.simulation import epochs as lab
from mixtally.model.ledger import read_ledger
from mixtally.report.document import Chunks

PROMISE = ("--epsilon", 1, "--delta", "1e-6")


@pytest.fixture
def diary(tmp_path):
    """Four hundred people in three weeks, not in order; every fifth one stays away in each."""
    rows = ["who,week,color"]
    for week in (2, 10, 1):
        rows += [
            f"p{i},{week},{'red' if (i * week) % 7 < 3 else 'blue'}"
            for i in range(500)
            if (i + week) % 5
        ]
    path = tmp_path / "diary.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture
def run(cli, diary):
    """Runs the command on the diary with more arguments."""

    def call(*arguments):
        return cli(
            "simulate epochs", diary, "--column", "color", "--epoch-column", "week", *PROMISE,
            "--seed", 1, *arguments,
        )  # fmt: skip

    return call


@pytest.fixture
def book(cli, tmp_path):
    path = tmp_path / "my.ledger"
    assert cli("budget", "open", path, *PROMISE).status == 0
    return path


@pytest.mark.seconds
def test_it_prints_counts_changes_and_what_people_spend(run):
    outcome = run("--person-column", "who")
    assert (outcome.status, outcome.err) == (0, "")
    for text in ("color over time", "first-last", "epochs taken part in", "the worst case"):
        assert text in outcome.out
    lines = [line.replace("│", " ").split() for line in outcome.out.splitlines()]
    assert [line[1] for line in lines if line[:1] == ["blue"]] == ["1"]
    assert [line[0] for line in lines if line[:1] in (["2"], ["10"])][:2] == ["2", "10"]


@pytest.mark.seconds
def test_without_people_it_says_that_nobody_knows(run):
    assert "does not identify people" in run().out


@pytest.mark.seconds
def test_json_holds_every_number(run):
    facts = json.loads(run("--json", "--person-column", "who").out)
    assert [epoch["epoch"] for epoch in facts["epochs"]] == ["1", "2", "10"]
    assert [epoch["users"] for epoch in facts["epochs"]] == [400, 400, 400]
    assert len(facts["changes"]) == 2 * 3
    assert facts["delta"] <= facts["delta_target"] == 1e-6
    assert sum(spent["people"] for spent in facts["spending"]) == 500
    by_name = {(e["epoch"], row["label"]): row for e in facts["epochs"] for row in e["estimates"]}
    for row in facts["changes"]:
        rise = (
            by_name[row["to"], row["label"]]["estimate"]
            - by_name[row["from"], row["label"]]["estimate"]
        )
        assert row["change"] == pytest.approx(rise)
        assert row["lower"] <= row["change"] <= row["upper"]
        assert (
            row["lower_simultaneous"] <= row["lower"] <= row["upper"] <= row["upper_simultaneous"]
        )


def test_the_files_are_written_whole(run, tmp_path):
    out = tmp_path / "out" / "simulation"
    outcome = run("--out", out.parent)
    assert sorted(path.name for path in out.iterdir()) == [
        "changes.csv", "counts.csv", "report.html", "result.json"
    ]  # fmt: skip
    assert f"wrote {out / 'report.html'}" in outcome.out
    assert (out / "counts.csv").read_text().splitlines()[1].startswith("epoch,bin,label,estimate,")
    assert len((out / "changes.csv").read_text().splitlines()) == 2 + 2 * 3
    assert json.loads((out / "result.json").read_text())["question"] == "color"


@pytest.mark.seconds
def test_a_seed_repeats_itself(run):
    assert run("--json").out == run("--json").out


def test_invented_people(cli, diary):
    outcome = cli(
        "simulate epochs", diary, "--column", "color", "--synthetic", 3, "--leave", 0.4,
        "--join", 0.1, *PROMISE, "--seed", 1, "--json",
    )  # fmt: skip
    facts = json.loads(outcome.out)
    users = [epoch["users"] for epoch in facts["epochs"]]
    assert users[0] == 1200
    assert users[0] > users[1] > users[2]
    assert "invented" in facts["source"]


@pytest.mark.seconds
def test_every_epoch_is_charged_before_it_is_sent(run, book, plant):
    seen = []

    def watched(honest, *arguments):
        charges = read_ledger(book.read_bytes(), "test").charges
        seen.append([charge.note for charge in charges])
        return honest(*arguments)

    plant(lab, "play", watched)
    assert run("--ledger", book).status == 0
    notes = ["epoch 1", "epoch 2", "epoch 10"]
    assert seen == [notes[:1], notes[:2], notes]
    assert [charge.times for charge in read_ledger(book.read_bytes(), "test").charges] == [1, 1, 1]


def test_past_the_budget_nothing_is_sent_and_nothing_is_written(
    refused, cli, diary, tmp_path, monkeypatch
):
    small = tmp_path / "small.ledger"
    assert cli("budget", "open", small, "--epsilon", 0.8, "--delta", "1e-6").status == 0
    before = small.read_bytes()
    monkeypatch.setattr(lab, "play", None)
    line = refused(
        "simulate epochs", diary, "--column", "color", "--epoch-column", "week", *PROMISE,
        "--ledger", small, "--out", tmp_path / "out",
    )  # fmt: skip
    assert "Nothing was charged" in line
    assert small.read_bytes() == before
    assert not (tmp_path / "out").exists()


@pytest.mark.seconds
def test_the_same_epochs_again_are_refused_and_leave_the_ledger(run, book):
    assert run("--ledger", book).status == 0
    before = book.read_bytes()
    outcome = run("--ledger", book)
    assert (outcome.status, outcome.out) == (2, "")
    assert "expected an epoch after '10'" in outcome.err
    assert book.read_bytes() == before


@pytest.mark.seconds
def test_epochs_out_of_order_are_refused(cli, diary, book, tmp_path):
    """The second week is asked first; the first week then comes too late."""
    weeks, lines = {}, diary.read_text().splitlines()
    for week in ("1", "2"):
        path = weeks[week] = tmp_path / f"week{week}.csv"
        rows = [line for line in lines[1:] if line.split(",")[1] == week]
        path.write_text("\n".join([lines[0], *rows]) + "\n")
    order = tmp_path / "order.txt"
    order.write_text("1\n2\n")
    shared = ("--column", "color", "--epoch-column", "week", "--epoch-order", order, *PROMISE,
              "--collections", 12, "--ledger", book)  # fmt: skip
    assert cli("simulate epochs", weeks["2"], *shared).status == 0
    before = book.read_bytes()
    outcome = cli("simulate epochs", weeks["1"], *shared)
    assert (outcome.status, outcome.out) == (2, "")
    assert "epoch '1': expected an epoch after '2'" in outcome.err
    assert book.read_bytes() == before


def test_a_plan_of_another_question_or_too_large_a_crowd_is_refused(refused, cli, diary, tmp_path):
    labels, plan = tmp_path / "labels.txt", tmp_path / "plan.json"

    def planned(answers, users, collections=3):
        labels.write_text("\n".join(answers))
        outcome = cli("plan", "--epsilon", 0.3, "--delta", "1e-7", "--users", users, "--labels",
                      labels, "--out", plan)  # fmt: skip
        assert outcome.status == 0

    shared = ("simulate epochs", diary, "--column", "color", "--epoch-column", "week", *PROMISE,
              "--plan", plan)  # fmt: skip
    planned(["green", "yellow"], 400)
    assert "expected one of the 2 labels" in refused(*shared)
    planned(["blue", "red"], 500)
    assert "expected a plan for 400 users" in refused(*shared)
    planned(["blue", "red"], 400)
    assert cli(*shared).status == 0
    assert "the plan contains it" in refused(*shared, "--mix-fakes")
    plan.write_text("{}")
    refused(*shared)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "got neither"),
        (("--epoch-column", "week", "--synthetic", 3), "--epoch-column"),
        (("--epoch-column", "week", "--join", 0.1), "--join"),
        (("--synthetic", 1), "epochs: expected an integer in [2"),
        (("--epoch-column", "day"), "a column 'day'"),
        (("--epoch-column", "week", "--person-column", "color"), "a second one in epoch"),
        (("--epoch-column", "week", "--collections", 2), "at least the 3 epochs"),
        (("--epoch-column", "week", "--ledger", "none.ledger"), "a ledger"),
    ],
)
def test_what_does_not_fit_together_is_refused(refused, diary, arguments, said):
    assert said in refused("simulate epochs", diary, "--column", "color", *PROMISE, *arguments)


def test_an_order_with_an_epoch_twice_is_refused(refused, diary, tmp_path):
    order = tmp_path / "order.txt"
    order.write_text("1\n2\n10\n2\n")
    line = refused("simulate epochs", diary, "--column", "color", "--epoch-column", "week",
                   *PROMISE, "--epoch-order", order)  # fmt: skip
    assert "order.txt: expected distinct printable labels" in line
    assert "got '2' in lines 2 and 4" in line


def test_a_file_that_ends_in_the_middle_of_an_epoch_is_refused_and_nothing_is_written(
    cli, refused, tmp_path
):
    path, out = tmp_path / "cut.csv", tmp_path / "out"
    rows = [f"2025-W0{week},{'ab'[i % 2]}" for week in (1, 2, 3) for i in range(400)]
    path.write_text("week,answer\n" + "\n".join(rows[:900]) + "\n")
    asked = (
        "simulate epochs", path, "--column", "answer", "--epoch-column", "week", *PROMISE,
        "--rows-are-people", "--counts-only", "--seed", 1, "--out", out,
    )  # fmt: skip
    line = refused(*asked)
    assert "epoch '2025-W03': expected about as many answers as in the other epochs" in line
    assert not out.exists()
    assert cli(*asked, "--partial-epoch").status == 0
    path.write_text(path.read_text() + "2025-W03")
    assert "expected 2 cells" in refused(*asked)


def test_pieces_of_a_file_that_cannot_be_made_leave_nothing(tmp_path):
    def broken():
        yield "a,b"
        raise OSError(28, "No space left on device")

    (tmp_path / "counts.csv").write_text("before")
    with pytest.raises(DataError, match="no space left"):
        publish(tmp_path, {"report.html": "new", "counts.csv": Chunks(broken)})
    assert [one.name for one in tmp_path.iterdir()] == ["counts.csv"]
    assert (tmp_path / "counts.csv").read_text() == "before"
    publish(tmp_path, {"counts.csv": Chunks(lambda: iter(["a", "é"]))})
    assert (tmp_path / "counts.csv").read_text(encoding="utf-8") == "aé"

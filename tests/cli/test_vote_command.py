"""``mixtally simulate --winner``: ballots in two versions, the example, and what is refused."""

import json
from pathlib import Path

import pytest

FILES = ["estimates.csv", "plan.json", "report.html", "result.json", "winner.csv"]
ASKED = ("--epsilon", 1, "--delta", "1e-6")


@pytest.fixture
def ballots(crowd):
    """The thousand people of the crowd voting for a color."""
    return crowd / "crowd.csv"


@pytest.fixture
def voted(cli, ballots):
    """Plays the ballots and returns the facts."""

    def call(*more, asked=ASKED):
        outcome = cli("simulate", ballots, "--winner", "--column", "color", *asked, *more, "--json")
        assert (outcome.status, outcome.err.strip()) == (0, "")
        return json.loads(outcome.out)

    return call


def test_both_versions_are_told_with_their_certificates(voted):
    told = voted("--seed", 3)
    facts, (release,) = told["winner"], told["releases"]
    local, shuffle = facts["local"], facts["shuffle"]
    assert (release["users"], facts["options"], facts["true_winner"]) == (1000, 5, "red")
    rows = zip(release["estimates"], shuffle["results"], strict=True)
    assert all(one["estimate"] == other["votes"] for one, other in rows)
    assert (local["epsilon"], local["delta"], local["observer"]) == (1.0, 0.0, "linked")
    assert shuffle["delta"] <= 1e-6
    assert (shuffle["observer"], shuffle["status"]) == ("messages", "proved")
    assert sum(row["chance_to_have_won"] for row in local["results"]) == pytest.approx(1.0)


def test_an_empty_ballot_is_no_candidate(cli, tmp_path):
    """Most cells are empty, and `--missing nobody` had nobody win."""
    cells = [*["a"] * 300, *["b"] * 100, *['""'] * 600]
    (tmp_path / "blank.csv").write_text("choice\n" + "\n".join(cells) + "\n")
    (tmp_path / "labels.txt").write_text("a\nb\nnobody\n")
    done = cli(
        "simulate", tmp_path / "blank.csv", "--winner", "--column", "choice",
        "--labels", tmp_path / "labels.txt", "--missing", "nobody",
        "--epsilon", 1, "--delta", "1e-6", "--json",
    )  # fmt: skip
    assert done.status == 0, done.err
    told = json.loads(done.out)["winner"]
    assert told["true_winner"] == told["shuffle"]["leader"] == "a"
    assert [row["blank"] for row in told["shuffle"]["results"]] == [False, False, True]


def test_keep_sets_the_local_version_alone(voted):
    facts = voted("--keep-probability", 0.7)["winner"]
    assert facts["local"]["keep_probability"] == pytest.approx(0.7)
    assert facts["local"]["epsilon"] == pytest.approx(1.6946, abs=1e-4)
    assert facts["shuffle"]["epsilon"] == 1.0


def test_keep_without_epsilon_plans_for_what_it_keeps(voted):
    facts = voted(asked=("--keep-probability", 0.63, "--delta", "1e-6"))["winner"]
    assert (
        facts["shuffle"]["epsilon"] == facts["local"]["epsilon"] == pytest.approx(1.06443, abs=1e-5)
    )


def test_the_budget_reaches_the_planner(voted):
    assert voted("--mix-fakes")["releases"][0]["protocol"] == "clear-shaped"
    facts = voted("--protocol", "flip-blank", "--messages-per-user", 3)
    assert facts["releases"][0]["fakes"] == 2000


def test_a_seed_repeats_a_vote_to_the_byte(cli, ballots, tmp_path):
    for name in ("one", "two"):
        given = ("simulate", ballots, "--winner", "--column", "color", *ASKED, "--seed", 3)
        assert cli(*given, "--out", tmp_path / name).status == 0
    one, two = (tmp_path / name / "simulation" for name in ("one", "two"))
    assert sorted(p.name for p in one.iterdir()) == FILES
    for name in FILES:
        assert (one / name).read_bytes() == (two / name).read_bytes()


def test_the_example_prints_the_side_notes_numbers(cli):
    outcome = cli("simulate", "--example", "--seed", 1)
    assert outcome.status == 0
    for text in ("1.151 %", "2.9 times", "at least 25.6 %", "'A' leads", "Local version"):
        assert text in outcome.out


def test_the_example_takes_other_numbers(cli):
    facts = json.loads(
        cli("simulate", "--example", "--epsilon", 2, "--delta", "1e-8", "--json").out
    )
    found = facts["winner"]["local"]["epsilon"], facts["releases"][0]["delta_target"]
    assert found == (2.0, 1e-8)


def test_labels_fix_the_options(voted, cli, ballots, tmp_path):
    labels = tmp_path / "labels"
    labels.write_text("teal\nred\nblue\npink\ngreen\nviolet\n")
    facts = voted("--labels", labels)
    assert [
        row["option"] for row in facts["winner"]["local"]["results"]
    ] == labels.read_text().split()
    assert "not_covered" not in facts
    assert voted()["not_covered"] == ["the list of answers was read from the data; give --labels"]


@pytest.fixture
def refuses(refused, tmp_path):
    """Refuses a file of this text and writes nothing."""

    def call(text, *more, asked=ASKED):
        path, out = tmp_path / "ballots.csv", tmp_path / "out"
        path.write_text(text)
        line = refused(
            "simulate", path, "--winner", "--column", "choice", *asked, "--out", out, *more
        )
        assert not out.exists()
        return line

    return call


GOOD = "choice\n" + "a\nb\n" * 500


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("choice\na\na\na\n", "two distinct values, got only 'a'"),
        ("choice,x\na,1\n,2\nb,3\n", "row 2: expected a value in column 'choice'"),
        ("choice\n", "at least two rows, got none"),
        ("vote\na\nb\n", "expected a column 'choice'"),
        ("choice\n" + "".join(f"{i % 300}\n" for i in range(600)), "options: expected at most 200"),
    ],
    ids=["one option", "missing value", "no ballots", "no column", "too many options"],
)
def test_ballots_that_cannot_be_counted_are_refused(refuses, text, said):
    assert said in refuses(text)


def test_an_option_without_a_label_is_refused(refuses, tmp_path):
    labels = tmp_path / "labels"
    labels.write_text("a\nc\n")
    assert "row 2: expected one of the 2 labels" in refuses(GOOD, "--labels", labels)


@pytest.mark.parametrize("keep", [0.5, 0.3, 1, 0, "nan", 0.5001, 0.99999])
def test_a_keep_probability_out_of_range_is_refused(refuses, keep):
    assert "keep probability: expected a number in" in refuses(GOOD, "--keep-probability", keep)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("--delta", "1e-6"), "expected --epsilon or --keep-probability, got neither"),
        (("--epsilon", 1), "expected --delta, got none"),
        (("--epsilon", 0, "--delta", "1e-6"), "epsilon: expected"),
        (("--epsilon", 1, "--delta", 0.2), "delta: expected"),
        ((*ASKED, "--level", 1), "confidence level: expected"),
        ((*ASKED, "--protocol", "nope"), "protocol: expected"),
        ((*ASKED, "--protocol", "clear-uniform", "--messages-per-user", 1), "clear-uniform needs"),
    ],
)
def test_bad_numbers_are_refused(refuses, asked, said):
    assert said in refuses(GOOD, asked=asked)


def test_what_is_to_be_counted_is_said_in_one_way(refused, ballots):
    assert "simulate: expected DATA, got none" in refused("simulate", "--winner", *ASKED)
    assert "expected --column or --columns" in refused("simulate", ballots, "--winner", *ASKED)
    assert "--example without DATA and --column, got all of these" in refused(
        "simulate", ballots, "--column", "color", "--example"
    )


@pytest.mark.parametrize(
    "more",
    [("--counts-only",), ("--plan", "p.json"), ("--contract", "c.json"), ("--observer", "sums"),
     ("--candidates", "words.txt"), ("--repeats", 2)],
    ids=lambda more: more[0],
)  # fmt: skip
def test_what_is_no_vote_is_refused_beside_a_winner(refused, ballots, more, monkeypatch):
    monkeypatch.chdir(ballots.parent)
    Path("words.txt").write_text("red\nblue\n")
    line = refused("simulate", ballots, "--winner", "--column", "color", *ASKED, *more)
    assert f"expected --winner without {more[0]}" in line


def test_sets_have_no_winner(refused, ballots):
    line = refused("simulate", ballots, "--winner", "--column", "color", "--set", ";", *ASKED)
    assert "--winner: expected one choice per ballot" in line

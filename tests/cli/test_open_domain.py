"""``mixtally simulate --candidates``: words of an open domain, played end to end."""

import csv
import json

import pytest

from mixtally.cli import options
from mixtally.cli.plan_files import read_plan
from mixtally.model.contract import write_plan
from mixtally.protocol.estimate import listed_words as counting
from mixtally.server.engine import workers

WORDS = ["rose", "tulip", "caf\u00e9", "lily"]
HELD = {word: 900 // rank for rank, word in enumerate(WORDS, start=1)}
RARE = [f"flower {number}" for number in range(600)]
GIVEN = ("--epsilon", 1, "--delta", "1e-6", "--seed", 1)
MIXED = (*GIVEN, "--mix-fakes")


@pytest.fixture
def data(tmp_path):
    """2,475 people; one of the words is spelled in two ways."""
    people = [word for word, count in HELD.items() for _ in range(count)] + RARE
    people[people.index("caf\u00e9")] = "cafe\u0301"
    path = tmp_path / "words.csv"
    path.write_text("word\n" + "\n".join(people) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def listed(tmp_path):
    """Candidates: the frequent words and one that nobody holds."""
    path = tmp_path / "candidates.txt"
    path.write_text("\n".join([*WORDS, "nobody"]), encoding="utf-8")
    return path


@pytest.fixture
def played(cli, data, listed):
    def call(*more, words=None):
        outcome = cli(
            "simulate", data, "--column", "word", *more, "--candidates", words or listed, "--json"
        )
        assert (outcome.status, outcome.err.strip()) == (0, "")
        return json.loads(outcome.out)

    return call


@pytest.mark.parametrize(
    ("more", "protocol", "error"),
    [
        (("--mix-fakes",), "clear-uniform", 6.7),
        ((), "kary-response", 8.27),
        (("--messages-per-user", 1.2), "kary-response", 8.79),
        (("--hops", 3), "clear-uniform", 13.3),
    ],
    ids=["a mix", "people", "few fakes", "three mixes"],
)
def test_words_are_counted_beside_the_others(played, more, protocol, error):
    """False alarm about 1e-8: estimates within six standard errors, which are not large."""
    facts = played(*GIVEN, *more)
    (release,) = facts["releases"]
    assert release["delta"] <= 1e-6
    assert (release["protocol"], release["messages_of_a_record"]) == (protocol, 1)
    assert release["bins"] == release["prime"] ** release["digits"]
    assert release["standard_error"] == pytest.approx(error, rel=0.03)
    found = {row["label"]: row for row in release["estimates"]}
    assert {word: found[word]["truth"] for word in WORDS} == HELD
    assert found["nobody"]["truth"] == 0
    for row in [*found.values(), *release["others"]]:
        assert abs(row["estimate"] - row["truth"]) < 6 * row["standard_error"]
    assert release["others"][0]["truth"] == 600
    assert "read off the data" not in facts["source"]


def test_words_are_counted_by_processes_with_the_same_result(played, monkeypatch, watch):
    alone = played(*MIXED)
    started = watch(workers, "worker_pool")
    monkeypatch.setattr(counting, "_PRODUCTS", 1)
    monkeypatch.setattr(counting, "_MESSAGES", 100)
    many = lambda progress: workers.ParallelMap(2, "words", progress, worth=0.0)  # noqa: E731
    monkeypatch.setattr(options, "make_parallel_map", many)
    assert played(*MIXED) == alone
    assert [processes for (processes,) in started] == [2]


def test_totals_of_listed_words_are_estimated(played, tmp_path):
    """False alarm below 10^-8: within six standard errors."""
    groups = tmp_path / "groups.csv"
    one, two = list(WORDS)[:2]
    groups.write_text(f"label,group\n{one},both\n{two},both\n", encoding="utf-8")
    (release,) = played(*MIXED, "--total", groups)["releases"]
    (row,) = release["totals"]
    counts = {row["label"]: row for row in release["estimates"]}
    assert row["estimate"] == pytest.approx(counts[one]["estimate"] + counts[two]["estimate"])
    assert row["truth"] == HELD[one] + HELD[two]
    alone = counts[one]["standard_error"]
    assert row["standard_error"] == pytest.approx(2**0.5 * alone, rel=0.2)
    assert abs(row["estimate"] - row["truth"]) < 6 * row["standard_error"]


def test_a_run_repeats_with_its_seed_and_another_key_is_another_run(played):
    first, again = played(*MIXED), played(*MIXED)
    assert first == again
    other = played(*MIXED, "--hash-seed", "00" * 16)
    assert other["releases"][0]["fingerprint"] != first["releases"][0]["fingerprint"]
    assert other["releases"][0]["estimates"] != first["releases"][0]["estimates"]


def test_files_tell_the_words_and_the_others(cli, data, listed, tmp_path):
    out = tmp_path / "out" / "simulation"
    outcome = cli(
        "simulate", data, "--column", "word", *MIXED, "--candidates", listed, "--out", out.parent
    )
    assert "people with a word not listed" in " ".join(outcome.out.split()).replace("│ ", "")
    page = (out / "report.html").read_text()
    assert "word: the others" in page
    assert "The same messages answer any other list" in page
    with (out / "estimates.csv").open(encoding="utf-8", newline="") as file:
        assert "holds raw counts" in next(file)
        rows = list(csv.DictReader(file))
    assert {row["label"] for row in rows} == {*WORDS, "nobody"}


def test_a_plan_of_an_open_domain_is_played(cli, played, data, refused, tmp_path):
    path = tmp_path / "plan.json"
    planned = cli("plan", "--open", "--name", "word", "--users", 2475, *GIVEN[:4], "--out", path)
    assert planned.status == 0
    (release,) = played("--plan", path, "--seed", 2)["releases"]
    assert release["estimates"][0]["lower"] > 800
    line = refused("simulate", data, "--column", "word", "--plan", path)
    assert "expected --candidates with a plan of an open question" in line
    line = refused(
        "simulate epochs", data, "--column", "word", "--synthetic", 2, "--plan", path,
        "--epsilon", 1, "--delta", "1e-6",
    )  # fmt: skip
    assert "expected a question with a list of values, got an open question" in line


def test_a_long_list_is_played_over_planes_too(cli, tmp_path):
    """A closed list that fakes cannot cover: every value has an estimate, and all hold."""
    labels, data = tmp_path / "labels.txt", tmp_path / "long.csv"
    labels.write_text("\n".join([*WORDS[:2], *RARE]), encoding="utf-8")
    people = [word for word in WORDS[:2] for _ in range(HELD[word])] + RARE
    data.write_text("word\n" + "\n".join(people) + "\n", encoding="utf-8")
    outcome = cli(
        "simulate", data, "--column", "word", "--labels", labels, *GIVEN, "--top", 602,
        "--protocol", "clear-uniform", "--json",
    )  # fmt: skip
    (release,) = json.loads(outcome.out)["releases"]
    assert release["protocol"] == "clear-uniform"
    assert (release["bins"], release["digits"]) == (602, 2)
    rows = release["estimates"]
    assert len(rows) == 602
    assert [row["truth"] for row in rows[:3]] == [900, 450, 1]
    assert all(abs(row["estimate"] - row["truth"]) < 6 * row["standard_error"] for row in rows)
    assert rows[0]["standard_error"] < 10


def test_every_word_that_is_held_may_be_looked_for(played, tmp_path):
    """604 words, which are everybody: nobody is left, within six standard errors."""
    path = tmp_path / "many.txt"
    path.write_text("\n".join([*WORDS, *RARE]), encoding="utf-8")
    (release,) = played(*MIXED, "--top", 604, words=path)["releases"]
    rows = release["estimates"]
    assert len(rows) == 604
    assert sum(row["truth"] for row in rows) == 2475
    (others,) = release["others"]
    assert others["truth"] == 0
    assert abs(others["estimate"]) < 6 * others["standard_error"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "bad.txt: expected distinct printable labels, one per line, got an empty"),
        (b"rose\nrose\n", "got 'rose' in lines 1 and 2"),
        (b"rose\n\ntulip\n", "got line 2 empty"),
        (
            b"rose\nl\x1b\n",
            r"bad.txt: expected distinct printable labels, one per line, got a con",
        ),
        (b"caf\xc3\xa9\ncafe\xcc\x81\n", r"got 'caf\xe9' in lines 1 and 2"),
        (b"r\xf6se\ntulip\n", "expected UTF-8 text, one label per line"),
        (b"rose\n", "words to look for: expected at least two"),
    ],
    ids=["empty", "twice", "blank", "control", "spelled twice", "not UTF-8", "one"],
)
def test_a_bad_list_is_refused_in_one_line(refused, data, tmp_path, content, message):
    path = tmp_path / "bad.txt"
    path.write_bytes(content)
    assert message in refused("simulate", data, "--column", "word", *GIVEN, "--candidates", path)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--hash-seed", "00" * 16), "expected words with --hash-seed"),
        (("--candidates", "LIST", "--hash-seed", "x"), "32 hexadecimal digits"),
        (("--candidates", "LIST", "--pairs"), "--candidates without --pairs, got both"),
        (
            ("--candidates", "LIST", "--set", ";"),
            "two texts or more from an open domain, got sets of one",
        ),
        (
            ("--candidates", "LIST", "--project", "simplex"),
            "--candidates without --project, got both",
        ),
        (("--candidates", "LIST", "--labels", "LIST"), "--candidates without --labels, got both"),
        (("--candidates", "LIST", "--counts-only"), "--counts-only without --candidates"),
        (("--candidates", "LIST", "--protocol", "flip-blank"), "a list of labels"),
    ],
)
def test_options_that_do_not_go_together_are_refused(refused, data, listed, more, message):
    more = [listed if part == "LIST" else part for part in more]
    assert message in refused("simulate", data, "--column", "word", *GIVEN, *more)


def test_plans_of_another_kind_are_refused(cli, refused, data, listed, tmp_path):
    labels = tmp_path / "labels.txt"
    labels.write_text("\n".join([*WORDS, *RARE]), encoding="utf-8")
    path, old = tmp_path / "plan.json", tmp_path / "old.json"
    cli("plan", "--labels", labels, "--users", 2475, *GIVEN[:4], "--out", path)
    line = refused("simulate", data, "--column", "word", "--plan", path, "--candidates", listed)
    assert "expected an open domain, got 604 bins of one value each" in line
    plan = json.loads(path.read_bytes())
    plan["question"] |= {"hashed": 1_000_000, "labels": None}
    old.write_text(json.dumps(plan, indent=1))
    line = refused("simulate", data, "--column", "word", "--plan", old, "--candidates", listed)
    assert "question.hashed: expected an object" in line


def test_other_crowds_than_the_plans_are_refused(cli, refused, data, listed, tmp_path):
    path = tmp_path / "plan.json"
    cli("plan", "--open", "--users", 2476, *GIVEN[:4], "--out", path)
    line = refused("simulate", data, "--column", "word", "--plan", path, "--candidates", listed)
    assert "expected a plan for 2,475 users" in line


def test_a_plan_with_a_key_comes_back_from_its_bytes(cli, tmp_path):
    path = tmp_path / "plan.json"
    cli("plan", "--open", "--hash-seed", "0f" * 16, "--users", 900, *GIVEN[:4], "--out", path)
    plan = read_plan(path)
    assert write_plan(plan) == path.read_bytes()
    hashed = json.loads(path.read_bytes())["question"]["hashed"]
    assert hashed == {"function": "HMAC-SHA-256", "seed": "0f" * 16}


@pytest.fixture
def sets(tmp_path):
    """1,200 people with up to three words, one of them spelled in two ways, and 200 with none."""
    some = ["rose;tulip"] * 500 + ["cafe\u0301"] * 100 + ["caf\u00e9;rose;lily"] * 300 + [""] * 200
    path = tmp_path / "sets.csv"
    rows = [*some, *(f"{RARE[place]};{RARE[place + 1]}" for place in range(100))]
    path.write_text("word,of\n" + "".join(f"{row},x\n" for row in rows), encoding="utf-8")
    return path


SET = ("--column", "word", "--set", ";", "--empty-sets")


@pytest.mark.parametrize(
    ("more", "protocol"),
    [
        (("--mix-fakes",), "clear-uniform"),
        (("--protocol", "clear-uniform"), "clear-uniform"),
        (("--messages-per-user", 3), "kary-response"),
    ],
    ids=["a mix", "people", "replaced"],
)
def test_sets_of_words_are_counted_beside_the_others(cli, sets, listed, more, protocol):
    """False alarm about 1e-8: estimates within six standard errors."""
    given = (*SET, "--max-set", 3, "--candidates", listed, *GIVEN, *more, "--json")
    (release,) = json.loads(cli("simulate", sets, *given).out)["releases"]
    assert (release["protocol"], release["max_set"]) == (protocol, 3)
    found = {row["label"]: row["truth"] for row in release["estimates"]}
    assert found == {"rose": 800, "tulip": 500, "caf\u00e9": 400, "lily": 300, "nobody": 0}
    assert [row["truth"] for row in release["others"]] == [200]
    assert [row["truth"] for row in release["sizes"]] == [2200 / 1200, 200, 300, 900]
    for row in [*release["estimates"], *release["others"], *release["sizes"]]:
        assert abs(row["estimate"] - row["truth"]) < 6 * row["standard_error"]


def test_a_plan_of_sets_of_words_is_shown_played_and_tallied(cli, sets, listed, refused, tmp_path):
    path, drawn = tmp_path / "plan.json", tmp_path / "drawn"
    asked = ("--name", "word", "--users", 1200, *GIVEN[:4], "--out", path)
    assert cli("plan", "--open", "--max-set", 3, *asked).status == 0
    done = cli("simulate", sets, *SET, "--plan", path, "--candidates", listed, "--json")
    (release,) = json.loads(done.out)["releases"]
    assert release["estimates"][0]["truth"] == 800
    assert cli("batch randomize", sets, *SET, "--plan", path, "--out", drawn).status == 0
    mixed = tmp_path / "mixed"
    assert cli("batch mix", drawn, "--plan", path, "--out", mixed).status == 0
    done = cli("batch tally", mixed, "--plan", path, "--candidates", listed, "--json")
    (release,) = json.loads(done.out)["releases"]
    row = release["estimates"][0]
    assert abs(row["estimate"] - 800) < 8 * row["standard_error"]
    line = refused("simulate", sets, *SET[:2], "--plan", path, "--candidates", listed)
    assert "expected a plan for data read as one, got one for records of kind set" in line
    assert cli("plan", "--open", "--max-set", 2, *asked).status == 0
    line = refused("simulate", sets, *SET, "--plan", path, "--candidates", listed)
    assert "row 601: expected at most 2 labels, the largest set that is hidden, got 3" in line


def test_a_contract_of_sets_of_words_says_so(cli, tmp_path):
    path = tmp_path / "plan.html"
    cli("plan", "--open", "--max-set", 3, "--users", 1200, *GIVEN[:4], "--hops", 3, "--out", path)
    assert "up to 3 of any texts, hashed to one of" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--max-set", 17), "max set: expected an integer in [1, 16], got 17"),
        (("--max-set", 0), "max set: expected an integer in [1, 16], got 0"),
        (("--max-set", 3, "--messages-per-user", 2), "kary-response needs 3 messages a record"),
        (("--max-set", 3, "--protocol", "flip-blank"), "needs a list of labels"),
    ],
)
def test_sets_of_texts_that_cannot_be_planned_are_refused(refused, more, message):
    assert message in refused("plan", "--open", "--users", 1200, *GIVEN[:4], *more)


def test_a_set_of_at_most_one_text_is_one_text(cli):
    given = ("plan", "--open", "--users", 1200, *GIVEN[:4], "--hash-seed", "00" * 16, "--json")
    assert cli(*given, "--max-set", 1).out == cli(*given).out

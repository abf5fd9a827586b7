"""Python plays what the command line plays: the same numbers for the same seed."""

import csv
import json
from pathlib import Path

import pytest
from msgspec.structs import replace

import mixtally

PROMISE = {"epsilon": 2, "delta": 1e-6}
FLAGS = ("--epsilon", 2, "--delta", 1e-6, "--seed", 1, "--json")
FRUIT = ["apple"] * 500 + ["pear"] * 300 + ["fig"] * 200
BASKETS = [["tea", "milk"], ["tea"], ["milk", "cake"]] * 300
WEEKS = [1, 2, 10] * 300
PLACES = [(40.1, -74.2), (41.3, -73.1), (42.9, -72.2)] * 300
OF_SOURCE = {"title", "source", "column", "question", "memory_file"}
"""What names the file that values came from, or their column."""


def written(path, names, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([names, *rows])
    return path


@pytest.fixture
def files(tmp_path):
    return {
        "fruit": written(tmp_path / "fruit.csv", ["answer"], [[one] for one in FRUIT]),
        "baskets": written(tmp_path / "b.csv", ["answer"], [[";".join(b)] for b in BASKETS]),
        "weeks": written(tmp_path / "w.csv", ["answer", "week"], zip(FRUIT, WEEKS, strict=False)),
        "places": written(tmp_path / "p.csv", ["lat", "lon"], PLACES),
    }


COMMANDS = {"votes": "simulate"}
"""Whose name is not that of its kind of result."""
CASES = {
    "words": (
        ("fruit", "--column", "answer", "--top", 2),
        lambda: mixtally.simulate_words(FRUIT, top=2, seed=1, **PROMISE),
    ),
    "votes": (
        ("fruit", "--winner", "--column", "answer"),
        lambda: mixtally.simulate(FRUIT, winner=True, seed=1, **PROMISE),
    ),
    "baskets": (
        ("baskets", "--column", "answer", "--set", ";", "--support", 5),
        lambda: mixtally.simulate_baskets(BASKETS, support=5, seed=1, **PROMISE),
    ),
    "memoized": (
        ("fruit", "--column", "answer", "--reports", 3),
        lambda: mixtally.simulate_memoized(FRUIT, reports=3, seed=1, epsilon=2, delta=1e-6),
    ),
    "epochs": (
        ("weeks", "--column", "answer", "--epoch-column", "week"),
        lambda: mixtally.simulate_epochs(
            {"answer": FRUIT[:900], "week": WEEKS}, epochs="week", seed=1, **PROMISE
        ),
    ),
    "places": (
        ("places", "--latitude", "lat", "--longitude", "lon", "--box=38,44,-76,-70",
         "--resolution", 2),
        lambda: mixtally.simulate_places(
            {"lat": [a for a, _ in PLACES], "lon": [b for _, b in PLACES]},
            box=(38, 44, -76, -70), resolution=2, seed=1, **PROMISE
        ),
    ),
}  # fmt: skip


def numbers(told):
    """Facts but for what names their source, and where that stands inside."""
    plain = {key: value for key, value in told.items() if key not in OF_SOURCE}
    return json.loads(json.dumps(plain))


KEY = "0f" * 16
COUNTS = {
    "compare": (
        ("fruit", "--compare", "apple", "--compare", "fig"), {"compare": ["apple", "fig"]}
    ),
    "total": (("fruit", "--total", "groups.csv"), {"total": {"tree": ["apple", "pear"]}}),
    "shares": (("fruit", "--shares"), {"shares": True}),
    "project": (("fruit", "--project", "simplex"), {"project": "simplex"}),
    "no project": (("fruit", "--no-project"), {"no_project": True}),
    "observer": (("fruit", "--observer", "sums"), {"observer": "sums"}),
    "counts only": (("fruit", "--counts-only"), {"counts_only": True}),
    "candidates": (
        ("fruit", "--candidates", "words.txt", "--hash-seed", KEY),
        {"candidates": ["apple", "plum"], "hash_seed": KEY},
    ),
    "a key that is drawn": (
        ("fruit", "--candidates", "words.txt"), {"candidates": ["apple", "plum"]}
    ),
    "sets of words": (
        ("baskets", "--set", ";", "--max-set", 2, "--candidates", "words.txt"),
        {"candidates": ["apple", "plum"], "max_set": 2},
    ),
}  # fmt: skip
"""Options of a count: what the command takes, and the keywords of the same names."""


@pytest.mark.parametrize("name", COUNTS)
def test_an_option_of_a_count_is_that_of_the_command(cli, tmp_path, files, name, monkeypatch):
    (file, *words), more = COUNTS[name]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "groups.csv").write_text("label,group\napple,tree\npear,tree\n")
    (tmp_path / "words.txt").write_text("apple\nplum\n")
    values = {"answer": FRUIT if file == "fruit" else BASKETS}
    ours = mixtally.simulate(values, seed=1, **PROMISE, **more).simulation.facts
    assert_same(cli("simulate", files[file], "--column", "answer", *words, *FLAGS), ours)


@pytest.fixture
def contract(cli, tmp_path):
    cli("example", "--all", tmp_path)
    plan = mixtally.plan(
        ["apple", "fig", "pear"], users=1000, hops=3, name="answer", minimum_crowd=500, **PROMISE
    )
    return Path(*plan.save_contract(tmp_path / "contract.json", tmp_path / "network.toml"))


def test_a_round_under_a_contract_is_that_of_the_command(cli, files, contract):
    flags = ("--column", "answer", "--contract", contract, *FLAGS[4:])
    done = cli("simulate", files["fruit"], *flags)
    for given in (contract, contract.read_bytes()):
        assert_same(done, mixtally.simulate(FRUIT, contract=given, seed=1).simulation.facts)


@pytest.mark.parametrize(
    ("cheats", "flags"),
    [
        ({"dishonest": [1]}, ("--dishonest", 1)),
        ({"dishonest": [1, 3], "leave_out": 0}, ("--dishonest", "1,3", "--leave-out", 0)),
    ],
)
def test_a_round_with_mixes_that_cheat_is_refused_as_by_the_command(
    cli, files, contract, cheats, flags
):
    asked = ("--column", "answer", "--contract", contract, *FLAGS[4:])
    told = json.loads(cli("simulate", files["fruit"], *asked, *flags).out)["releases"][0]["refusal"]
    with pytest.raises(mixtally.MixtallyError) as refused:
        mixtally.simulate(FRUIT, contract=contract, seed=1, **cheats)
    assert str(refused.value) == told


def test_what_is_hidden_from_sums_is_part_of_a_result(tmp_path):
    found = mixtally.simulate(FRUIT, observer="sums", labels=["apple", "fig", "pear"], **PROMISE)
    told = found.facts["releases"][0]["observer_of_sums"]
    assert (told["observer"], told["upper"]) == ("sums", found.sums.upper)
    found.save(tmp_path)
    assert (
        json.loads((tmp_path / "result.json").read_text())["releases"][0]["observer_of_sums"]
        == told
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"hash_seed": KEY}, "candidates: expected words with hash_seed"),
        ({"candidates": ["fig"], "pairs": True}, r"candidates without pairs, got both"),
        ({"candidates": ["fig"], "labels": ["fig", "plum"]}, "candidates without labels, got both"),
        ({"candidates": ["fig"], "counts_only": True}, "counts_only without candidates"),
        ({"dishonest": [1]}, "dishonest: expected contract with it"),
        ({"dishonest": 1}, "dishonest: expected a list of positions of mixes"),
        ({"observer": "me"}, "expected one of messages, sums"),
        ({"project": "simplex", "no_project": True}, "project without no_project, got both"),
        ({"delta": None}, "expected both epsilon and delta, or a plan, got epsilon alone"),
    ],
)
def test_options_of_a_count_that_do_not_go_together_are_refused(given, said):
    with pytest.raises(mixtally.MixtallyError, match=said):
        mixtally.simulate(FRUIT, **PROMISE | given)


def assert_same(done, found):
    """Check that a command printed the same facts, but for names of its source."""
    assert done.status == 0, done.err
    told = {"promise", "not_covered", "reason"}  # Python names its own arguments there
    own, ours = numbers(json.loads(done.out)), numbers(found)
    assert {k: v for k, v in own.items() if k not in told} == {
        k: v for k, v in ours.items() if k not in told
    }


@pytest.mark.parametrize("name", CASES)
def test_python_finds_what_the_command_line_finds(name, cli, files):
    (file, *words), play = CASES[name]
    done = cli(COMMANDS.get(name, f"simulate {name}"), files[file], *words, *FLAGS)
    assert done.status == 0, done.err
    own, found = numbers(json.loads(done.out)), numbers(play().simulation.facts)
    told = {"promise", "not_covered"}  # Python names its own arguments there
    assert {k: v for k, v in own.items() if k not in told} == {
        k: v for k, v in found.items() if k not in told
    }


EPOCHS = {
    "invented": (
        ("fruit", "--synthetic", 3, "--leave", 0.2), {"synthetic": 3, "leave": 0.2}
    ),
    "counts only": (
        ("weeks", "--epoch-column", "week", "--counts-only"),
        {"epochs": "week", "counts_only": True},
    ),
    "a half epoch": (
        ("half", "--epoch-column", "week", "--partial-epoch"),
        {"epochs": "week", "partial_epoch": True},
    ),
    "sets": (
        ("sets", "--epoch-column", "week", "--set", ";", "--max-set", 2),
        {"epochs": "week", "separator": ";", "max_set": 2},
    ),
    "numbers": (
        ("numbers", "--epoch-column", "week", "--number", "0,10", "--bins", 5),
        {"epochs": "week", "number": (0, 10), "bins": 5},
    ),
}  # fmt: skip
"""Options of epochs: what the command takes, and the keywords of the same names."""


@pytest.mark.parametrize("name", EPOCHS)
def test_an_option_of_epochs_is_that_of_the_command(cli, tmp_path, name):
    (kind, *words), more = EPOCHS[name]
    answers = {
        "sets": ["apple;fig", "pear", "fig"] * 300, "numbers": [0.5, 3.5, 7.5] * 300,
    }.get(kind, FRUIT[:900])  # fmt: skip
    weeks = [1] * 400 + [2] * 400 + [10] * 100 if kind == "half" else WEEKS
    both = {"answer": answers} if kind == "fruit" else {"answer": answers, "week": weeks}
    path = written(tmp_path / "it.csv", [*both], zip(*both.values(), strict=True))
    done = cli("simulate epochs", path, "--column", "answer", *words, *FLAGS)
    assert_same(done, mixtally.simulate_epochs(both, seed=1, **PROMISE, **more).simulation.facts)


def test_a_plan_of_epochs_and_its_charges_are_those_of_the_command(cli, files, tmp_path):
    plan = mixtally.plan(["apple", "pear", "fig"], users=300, collections=3, **PROMISE)
    (file,) = plan.save(tmp_path / "plan.json")
    ours, theirs = tmp_path / "ours.json", tmp_path / "theirs.json"
    for ledger in (ours, theirs):
        assert cli("budget", "open", ledger, "--epsilon", 9, "--delta", 1e-4).status == 0
    words = ("--column", "answer", "--epoch-column", "week", "--plan", file, "--ledger", theirs)
    promise = ("--epsilon", 2, "--delta", 1e-6)
    done = cli("simulate epochs", files["weeks"], *words, *promise, "--json")
    assert done.status == 0, done.err
    both, budget = {"answer": FRUIT[:900], "week": WEEKS}, mixtally.Budget(ours)
    found = mixtally.simulate_epochs(both, epochs="week", plan=plan, budget=budget, **PROMISE)
    assert found.facts["epochs"][0]["users"] == json.loads(done.out)["epochs"][0]["users"]
    assert [one.note for one in budget.charges] == ["epoch 1", "epoch 2", "epoch 10"]
    ours, theirs = (
        [replace(one, date="") for one in each.charges]  # one may be charged after midnight
        for each in (budget, mixtally.Budget(theirs))
    )
    assert ours == theirs
    with pytest.raises(mixtally.MixtallyError, match="collected already"):
        mixtally.simulate_epochs(both, epochs="week", plan=plan, budget=budget, **PROMISE)
    with pytest.raises(mixtally.MixtallyError, match="a seed without a budget, got both"):
        mixtally.simulate_epochs(both, epochs="week", budget=budget, seed=1, **PROMISE)


def test_a_memory_is_kept_as_the_command_keeps_it(tmp_path):
    """The key is made once; a seed would tell it to everybody."""
    state = tmp_path / "key"
    first = mixtally.simulate_memoized(
        FRUIT, state=state, epsilon=1, labels=["apple", "pear", "fig"]
    )
    key = state.read_bytes()
    mixtally.simulate_memoized(FRUIT, state=str(state), epsilon=1, labels=["apple", "pear", "fig"])
    assert state.read_bytes() == key
    assert (first.facts["memory_file"], first.facts["memories"]) == (str(state), 1)
    with pytest.raises(mixtally.MixtallyError, match="seed: expected seed without state, got both"):
        mixtally.simulate_memoized(FRUIT, state=state, epsilon=1, seed=1)


def test_people_with_several_places_are_one_in_every_kind():
    """An item a place; who has several is said by a column, as on the command line."""
    frame = {"item": ["tea", "milk"] * 400, "who": [*range(400)] * 2}
    sets = mixtally.simulate_baskets(
        frame, person="who", several="set", labels=["tea", "milk"], max_set=2, seed=1, **PROMISE
    )
    assert sets.simulation.facts["source"].startswith("400 values")
    words = mixtally.simulate_words(frame, person="who", several="first", top=1, seed=1, **PROMISE)
    assert words.facts["source"].startswith("400 values")


def test_a_vote_is_that_of_the_command(cli):
    """The example, and ballots of which some are blank."""
    told = mixtally.simulate(winner=True, example=True, seed=1).simulation.facts
    assert_same(cli("simulate", "--winner", "--example", "--seed", 1, "--json"), told)
    ballots = ["a", "b", None] * 300
    how = {"labels": ["a", "b", "none"], "missing": "none", **PROMISE}
    found = mixtally.simulate(ballots, winner=True, keep_probability=0.7, **how)
    local = found.facts["winner"]["local"]
    assert local["keep_probability"] == pytest.approx(0.7)
    assert [row["blank"] for row in local["results"]] == [False, False, True]
    assert found.tables["winner"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            {"counts_only": True},
            "winner: expected winner without counts_only, got both",
        ),
        ({"counts": [1] * 1000}, "winner without counts, got both"),
        ({"budget": mixtally.Budget(epsilon=9, delta=1e-4)}, "winner without budget, got both"),
        ({"example": True}, "expected example without values, got both"),
    ],
)
def test_what_is_no_vote_is_refused_in_python_too(more, said):
    with pytest.raises(mixtally.MixtallyError, match=said):
        mixtally.simulate(FRUIT, winner=True, **PROMISE, **more)


def test_the_nearest_requests_are_those_of_the_command(cli):
    wish = {"epsilon": 0.1, "delta": 1e-6, "users": 1000, "bins": 10**7, "messages_per_user": 1}
    with pytest.raises(mixtally.errors.InfeasibleError) as refused:
        mixtally.plan(protocol="flip-blank", **wish)
    words = [word for name, x in wish.items() for word in (f"--{name.replace('_', '-')}", x)]
    done = cli("plan", "--protocol", "flip-blank", *words, "--json")
    told = json.loads(done.out)["nearest"]
    nearest = refused.value.nearest.found
    assert [one.plan.facts() for one in nearest] == [
        {k: v for k, v in near.items() if k != "change"} for near in told
    ]
    assert not any("--" in one.change for one in nearest)


def test_the_twin_with_another_seed_differs(cli, files):
    done = cli("simulate words", files["fruit"], "--column", "answer", "--top", 2, *FLAGS)
    other = mixtally.simulate_words(FRUIT, top=2, seed=2, **PROMISE)
    assert numbers(json.loads(done.out))["words"] != numbers(other.simulation.facts)["words"]


def test_a_batch_in_files_is_concluded_as_the_command_does(cli, tmp_path, files, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plan = mixtally.plan(["apple", "fig", "pear"], users=1000, name="answer", **PROMISE)
    plan.save("plan.json")
    (tmp_path / "groups.csv").write_text("label,group\napple,tree\npear,tree\nfig,other\n")
    for words in (
        ("batch randomize", files["fruit"], "--column", "answer", "--processes", 0, "--out", "raw"),
        ("batch mix", "raw", "--out", "mixed"),
    ):
        assert cli(*words, "--plan", "plan.json", "--seed", 1).status == 0
    done = cli("batch tally", "mixed", "--plan", "plan.json", "--processes", 0, "--json",
               "--shares", "--compare", "fig", "--compare", "pear",
               "--total", "groups.csv")  # fmt: skip
    (told,) = json.loads(done.out)["releases"]
    asked = {"compare": ["fig", "pear"], "total": {"tree": ["apple", "pear"], "other": ["fig"]}}
    for shards in ("mixed", [tmp_path / "mixed"]):
        found = mixtally.conclude(plan, shards, shares=True, processes=0, tallies="kept", **asked)
        assert [row["estimate"] for row in told["estimates"]] == [r.estimate for r in found.rows]
        for name in ("totals", "differences"):
            ours = [(row.label, row.estimate, row.lower) for row in found.figures[name]]
            assert ours == [(r["label"], r["estimate"], r["lower"]) for r in told[name]]
    assert (tmp_path / "kept").is_dir()
    assert found.note == json.loads(done.out)["source"]
    with pytest.raises(mixtally.MixtallyError, match=r"raw.*order of the people"):
        mixtally.conclude(plan, "raw", processes=0)
    with pytest.raises(
        mixtally.MixtallyError, match="total: expected a mapping from the name of each group"
    ):
        mixtally.conclude(plan, "mixed", total=["apple"])

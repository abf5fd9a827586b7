"""``mixtally simulate memoized``: one-hot and hashed, repeatable, its file guarded."""

import csv
import json

import pytest

from mixtally.accounting.divergence.memoized import loss
from mixtally.model.mechanism.memoized import make_memoized

CLEAR = ("--permanent", "0.001", "--p", "0.001", "--q", "0.999")
HASHED = ("--bloom-bits", 64, "--cohorts", 4)


def test_the_losses_are_those_of_the_accountant(remembered):
    facts = remembered("--reports", 5, "--epsilon", 1, "--permanent", 0.5)
    most = loss(make_memoized(5, 0.5, 0.5, 0.75), 5)
    assert [facts[name] for name in ("eps_1", "eps_T", "eps_inf")] == [
        most.eps_1, most.eps_T, most.eps_inf,
    ]  # fmt: skip
    assert 0 < facts["delta_lower"] <= facts["delta"] < 0.1
    hashed = remembered(*HASHED, "--hashes", 3, "--reports", 2)
    assert hashed["eps_T"] == loss(make_memoized(64, 0.5, 0.5, 0.75, hashes=3), 2).eps_T
    assert "delta" not in hashed


@pytest.mark.parametrize("more", [(), HASHED], ids=["one-hot", "hashed"])
def test_a_clear_crowd_is_counted_nearly_exactly(remembered, more):
    """Noise of one count or two; hashed, a few more by who landed in which cohort."""
    facts = remembered(*CLEAR, *more, "--seed", 1)
    for row in facts["estimates"]:
        assert row["estimate"] == pytest.approx(row["truth"], abs=40)
        assert row["lower"] <= row["estimate"] <= row["upper"]
    assert [row["truth"] for row in facts["estimates"]] == [200, 300, 10, 400, 90]
    assert facts["users"] == 1000


@pytest.mark.parametrize("more", [(), HASHED], ids=["one-hot", "hashed"])
def test_a_seed_repeats_and_another_differs(remembered, more):
    once, again, other = (remembered(*more, "--seed", seed) for seed in (3, 3, 4))
    assert once == again
    assert once["estimates"] != other["estimates"]


def test_the_table_says_what_was_found_what_it_costs_and_what_averaging_tells(memory):
    outcome = memory("--reports", 5, "--seed", 1, "--epsilon", 1, "--permanent", 0.5, "--top", 2)
    assert outcome.status == 0
    for part in (
        "eps_1 = 0.537143, eps_T = 1.828 after 5 reports, eps_inf = 2.19723 however many",
        "observer: linked",
        "misreads the memoized bit with probability 0.277, the true one with 0.389, never below 0.",
        "at epsilon 1 after 5 reports: delta <= 0.0444505, at least 0.0444504",
        "intervals cover the true count",
    ):
        assert part in outcome.out
    assert "pink" not in outcome.out


def test_files_hold_what_is_printed(memory, tmp_path):
    out = tmp_path / "out" / "simulation"
    outcome = memory("--seed", 1, "--out", out.parent, "--json")
    facts = json.loads(outcome.out)
    assert json.loads((out / "result.json").read_text()) == facts
    with (out / "estimates.csv").open(newline="") as file:
        assert "holds raw counts" in next(file)
        rows = list(csv.DictReader(file))
    assert {row["label"] for row in rows} == {row["label"] for row in facts["estimates"]}
    assert [float(row["estimate"]) for row in rows] == sorted(
        (row["estimate"] for row in facts["estimates"]), reverse=True
    )


def test_candidates_are_looked_for_and_others_counted_together(remembered, memory, tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("red\ngreen\nzürich\n", encoding="utf-8")
    given = (*CLEAR, "--bloom-bits", 64, "--candidates", words, "--seed", 2)
    facts = remembered(*given)
    found = {row["label"]: row for row in facts["estimates"]}
    assert found["red"]["found"]
    assert found["green"]["found"]
    assert not found["zürich"]["found"]
    assert found["zürich"]["truth"] == 0
    assert facts["unlisted_truth"] == 300
    assert facts["unlisted"] == pytest.approx(300, abs=6 * facts["unlisted_standard_error"])
    assert "others than candidates" in memory(*given).out


def test_too_many_candidates_are_chosen_from_and_that_is_said(memory, tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("red\n" + "\n".join(f"word {i}" for i in range(99)), encoding="utf-8")
    given = ("--bloom-bits", 16, "--cohorts", 2, "--candidates", words, "--seed", 2)
    out = memory(*CLEAR, *given, "--top", 99).out
    assert "not chosen" in out
    assert "intervals fall short of their level" in out


def certain(folder):
    """Options with which a report shows what is kept."""
    return ("--p", 0, "--q", 1, "--state", folder / "crowd.memory")


@pytest.mark.parametrize("more", [(), HASHED], ids=["one-hot", "hashed"])
def test_memoized_answers_in_a_file_are_used_again(remembered, memory, tmp_path, more):
    once, again = (remembered(*certain(tmp_path), *more)["estimates"] for _ in range(2))
    assert once == again
    assert [path.name for path in tmp_path.glob("*.memory*")] == ["crowd.memory"]
    assert "earlier runs" in memory(*certain(tmp_path), *more).out
    assert remembered("--p", 0, "--q", 1, *more)["estimates"] != once


@pytest.mark.parametrize(
    ("other", "memories"),
    [(("--permanent", 0.6), 2), (("--p", 0.1), 1), (("--column", "other"), 2), (HASHED, 2)],
    ids=str,
)
def test_another_memory_of_one_key_is_counted(remembered, tmp_path, other, memories):
    """p and q only show what is memoized; another f, question or encoder is another memory."""
    once = remembered(*certain(tmp_path))
    assert remembered(*certain(tmp_path), *other)["memories"] == memories
    again = remembered(*certain(tmp_path))
    assert (again["estimates"], again["memories"]) == (once["estimates"], memories)


def test_damaged_keys_are_refused_and_a_lost_one_is_another(remembered, unremembered, tmp_path):
    once, file = remembered(*certain(tmp_path))["estimates"], tmp_path / "crowd.memory"
    whole = file.read_bytes()
    file.write_bytes(whole[:-3])
    assert "restore the key from its copy" in unremembered(*certain(tmp_path))
    assert file.read_bytes() == whole[:-3]
    file.unlink()
    assert remembered(*certain(tmp_path))["estimates"] != once
    file.write_bytes(whole)
    assert remembered(*certain(tmp_path))["estimates"] == once


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--permanent", 0), "permanent: expected"),
        (("--permanent", "nan"), "permanent: expected"),
        (("--permanent", 1.1), "permanent: expected"),
        (("--permanent", 1), "reveal nothing"),
        (("--p", 0.8), "expected 0 <= p < q <= 1"),
        (("--p", -0.1), "p: expected a probability"),
        (("--q", "inf"), "q: expected a probability"),
        (("--q", 0.5), "expected 0 <= p < q <= 1"),
        (("--reports", 0), "reports: expected"),
        (("--reports", "1e7"), "reports: expected"),
        (("--reports", "1e6", "--bloom-bits", 999), "Play fewer reports"),
        (("--level", 1), "confidence level"),
        (("--epsilon", 0), "epsilon: expected"),
        (("--bloom-bits", 7), "bloom bits: expected"),
        (("--bloom-bits", "1e6"), "bloom bits: expected"),
        (("--bloom-bits", 64, "--hashes", 0), "hashes: expected"),
        (("--bloom-bits", 64, "--hashes", 17), "hashes: expected"),
        (("--bloom-bits", 64, "--cohorts", 0), "cohorts: expected"),
        (("--bloom-bits", 64, "--cohorts", "1e6"), "cohorts: expected"),
        (("--bloom-bits", 65536, "--cohorts", 300), "1 to 10,000,000 cells"),
        (("--hashes", 2), "--bloom-bits: expected a number of bits with --hashes"),
        (("--cohorts", 2), "--bloom-bits: expected a number of bits with --cohorts"),
        (("--column", "colour"), "a column 'colour'"),
    ],
    ids=str,
)
def test_what_cannot_be_played_is_refused_in_one_line(unremembered, more, words):
    assert words in unremembered(*more)


def test_nothing_is_kept_that_a_seed_repeats(refused, crowd):
    given = ("simulate memoized", crowd / "crowd.csv", "--column", "color", "--seed", 1)
    line = refused(*given, "--state", crowd / "m.memory")
    assert "--seed: expected --seed without --state, got both" in line
    assert not list(crowd.glob("m.memory*"))


@pytest.mark.parametrize("text", [b"", b"red\n\nblue\n", b"red\nred\n", b"r\xffd\n"])
def test_bad_lists_of_candidates_are_refused(unremembered, tmp_path, text):
    words = tmp_path / "words.txt"
    words.write_bytes(text)
    assert "words.txt" in unremembered("--bloom-bits", 64, "--candidates", words)
    assert "words.txt" in unremembered(
        "--bloom-bits", 64, "--candidates", tmp_path / "no-words.txt"
    )


def test_refusals_leave_no_file(unremembered, tmp_path):
    wide = ("--bloom-bits", 65536, "--cohorts", 300)
    bad_ones = [("--level", 1), ("--epsilon", 0), ("--permanent", 1), ("--reports", "9e5", *HASHED)]
    for bad in (*bad_ones, wide):
        unremembered(*bad, "--state", tmp_path / "m", "--out", tmp_path / "out")
    assert not list(tmp_path.glob("m*"))
    assert not (tmp_path / "out").exists()

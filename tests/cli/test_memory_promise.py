"""``mixtally simulate memoized``: the noise that keeps a promise, and a key's file that holds."""

import hashlib
import json

import pytest

from report.reader import self_contained


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1, 7, 20])
def test_epsilon_chooses_the_noise_that_keeps_it(remembered, tmp_path, epsilon):
    run = remembered("--epsilon", epsilon, "--reports", 3)
    assert run["eps_T"] <= epsilon * (1 + 1e-12)
    assert run["delta"] == 0.0
    ever = remembered("--epsilon", epsilon, "--reports", 3, "--state", tmp_path / "s")
    assert epsilon * (1 - 1e-9) <= ever["eps_inf"] <= epsilon * (1 + 1e-12)
    assert ever["permanent"] >= run["permanent"]


def test_a_delta_lets_it_be_less(remembered, tmp_path):
    pure = remembered("--epsilon", 1, "--reports", 8)
    given = remembered("--epsilon", 1, "--delta", 0.001, "--reports", 8)
    assert 0.0 < given["delta"] <= 0.001
    assert given["permanent"] < pure["permanent"]
    assert "f = 0." in given["reason"]
    assert "epsilon = 1, delta = 0.001 over the 8 reports" in given["reason"]
    ever = remembered("--epsilon", 1, "--delta", 0.001, "--state", tmp_path / "s")
    assert "any number of reports" in ever["reason"]


def test_files_hold_what_is_printed(cli, crowd, tmp_path):
    out = tmp_path / "out"
    outcome = cli("simulate memoized", crowd / "crowd.csv", "--column", "color",
                  "--labels", crowd / "colors.txt", "--out", out)  # fmt: skip
    assert outcome.status == 0
    assert sorted(path.name for path in out.iterdir()) == [
        "estimates.csv", "report.html", "result.json", "simulation",
    ]  # fmt: skip
    facts = json.loads((out / "result.json").read_text())
    text = " ".join(self_contained((out / "report.html").read_text()).texts)
    for row in facts["estimates"]:
        assert row["label"] in text
    for path in out.rglob("*.*"):
        assert f"wrote {path}" in outcome.out


def test_hashed_values_keep_a_promise_as_well(remembered):
    hashed = ("--bloom-bits", 64, "--hashes", 2, "--reports", 2)
    run = remembered("--epsilon", 3, *hashed)
    assert 3 * (1 - 1e-9) <= run["eps_T"] <= 3 * (1 + 1e-12)


def test_beside_a_given_noise_epsilon_is_asked_and_chooses_nothing(remembered):
    run = remembered("--permanent", 0.5, "--epsilon", 1, "--reports", 5)
    assert (run["permanent"], run["reason"]) == (0.5, "")
    assert run["delta"] > 0.0


def test_a_key_is_drawn_once(remembered, tmp_path):
    """p = 0, q = 1 shows what is kept, so the same estimates are the same noise."""
    certain = ("--p", 0, "--q", 1, "--state", tmp_path / "s")
    once = remembered(*certain)["estimates"]
    key = (tmp_path / "s").read_bytes()
    assert remembered(*certain)["estimates"] == once
    assert (tmp_path / "s").read_bytes() == key
    assert remembered(*certain[:4])["estimates"] != once


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            ("--permanent", 0.5, "--epsilon", 1, "--delta", "1e-6"),
            "expected --delta without --permanent",
        ),
        (("--delta", "1e-6"), "expected --epsilon with it"),
        (("--epsilon", 0), "epsilon: expected"),
        (("--epsilon", 1, "--delta", 1), "delta: expected"),
        (("--epsilon", 1, "--p", 0.9), "0 <= p < q <= 1"),
        (("--reports", -1), "reports: expected"),
        (("--epsilon", 1, "--reports", 0), "reports: expected"),
    ],
    ids=str,
)
def test_what_does_not_fit_together_is_refused_in_a_line(unremembered, more, said):
    assert said in unremembered(*more)


def sums(folder):
    """What every file of the folder holds, by name."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def flipped(place):
    return lambda data: data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :]


DAMAGE = {
    "empty": lambda data: data[:0],
    "cut in the key": lambda data: data[:60],
    "cut by a byte": lambda data: data[:-1],
    "longer": lambda data: data + b"x",
    "first byte": flipped(0),
    "no text": lambda data: data + b"\xff",
}


def test_damaged_state_files_are_refused_and_nothing_is_written(cli, refused, crowd, tmp_path):
    state = tmp_path / "s"
    given = ("simulate memoized", crowd / "crowd.csv", "--column", "color", "--state", state)
    assert cli(*given).status == 0
    whole = state.read_bytes()
    for name, damage in DAMAGE.items():
        state.write_bytes(damage(whole))
        before = sums(tmp_path)
        line = refused(*given, "--out", tmp_path / "out")
        assert "s: expected" in line, name
        assert sums(tmp_path) == before, name
        assert not (tmp_path / "out").exists()
    state.write_bytes(whole)
    assert cli(*given).status == 0


def test_another_f_is_another_memory_and_is_said(remembered, cli, crowd, tmp_path):
    """p = 0, q = 1 shows what is kept: another f draws it anew, and each costs its own eps_inf."""
    state = ("--p", 0, "--q", 1, "--state", tmp_path / "s")
    once = remembered(*state)
    assert once["memories"] == 1
    other = remembered(*state, "--permanent", 0.6)
    assert other["memories"] == 2
    said = cli("simulate memoized", crowd / "crowd.csv", "--column", "color", *state).out
    assert "this key has answered under 2 questions, encoders or f" in " ".join(said.split())
    again = remembered(*state)
    assert (again["estimates"], again["memories"]) == (once["estimates"], 2)


def test_a_state_file_takes_no_other_files_place(unremembered, crowd, tmp_path):
    before = sums(tmp_path)
    for taken in (crowd / "crowd.csv", crowd):
        assert "choose another path" in unremembered("--state", taken)
    same = ("--state", tmp_path / "out" / "result.json", "--out", tmp_path / "out")
    assert "a file that --out does not write" in unremembered(*same)
    assert sums(tmp_path) == before


def test_text_that_is_not_utf8_is_refused(refused, unremembered, tmp_path):
    (tmp_path / "bad.csv").write_bytes(b"color\nr\xffd\nblue\n")
    given = ("--column", "color", "--state", tmp_path / "s")
    assert "UTF-8" in refused("simulate memoized", tmp_path / "bad.csv", *given)
    (tmp_path / "labels.txt").write_bytes(b"r\xffd\n")
    assert "UTF-8" in unremembered("--labels", tmp_path / "labels.txt")
    (tmp_path / "s").write_bytes(b"\xff\xfe")
    assert "the key of memoized answers" in unremembered("--state", tmp_path / "s")
    assert (tmp_path / "s").read_bytes() == b"\xff\xfe"

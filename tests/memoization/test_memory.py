"""A device's key: made once whoever asks, whole or not at all, and what is answered by it."""

import errno
import os
import subprocess
import sys
from contextlib import nullcontext

import numpy as np
import pytest

from mixtally.errors import DataError, ParameterError
from mixtally.lab.memoization import MemoizedDevice, device_key
from mixtally.lab.memoization import memoized_device as device_memory
from mixtally.lab.simulation.memoized.crowd import measure_recovery, memoize_crowd, play_reports
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.memoized_plan import hashed_question, make_memoized_plan
from mixtally.model.question import Question
from mixtally.primitives.chance import SecureChance
from mixtally.protocol.randomize.memoized import memory_of

QUESTION = Question(name="color", bins=64)
PLAN = make_memoized_plan(QUESTION, 0.5, 0.5, 0.75)
CERTAIN = make_memoized_plan(QUESTION, 0.5, 0.0, 1.0)
"""Reports show the memory itself."""
OTHER = make_memoized_plan(QUESTION, 0.25, 0.0, 1.0)
KEY = bytes(range(32))


def kept(folder, plan=CERTAIN):
    return device_key(folder / "ann.key", plan, SecureChance())


def said(folder, value, plan=CERTAIN):
    """What a device says of a value whose reports show what is memoized."""
    return MemoizedDevice(plan, kept(folder, plan).key).report(value, SecureChance())


def test_a_person_reports_from_one_memory_for_ever(tmp_path):
    first = said(tmp_path, "7")
    for _ in range(5):
        assert said(tmp_path, "7") == first
    assert said(tmp_path, "8").bits != first.bits
    assert said(tmp_path, "7") == first


@pytest.mark.parametrize(
    "plan",
    [
        make_memoized_plan(Question(name="q", bins=2, labels=("caf\u00e9", "tea")), 0.5, 0.0, 1.0),
        make_memoized_plan(hashed_question("q", 64, 2), 0.5, 0.0, 1.0),
    ],
    ids=["labels", "hashed"],
)
def test_both_forms_of_a_letter_with_an_accent_have_one_response(tmp_path, plan):
    """Two would be two memories of one answer, and tell more."""
    assert said(tmp_path, "caf\u00e9", plan) == said(tmp_path, "cafe\u0301", plan)


def test_a_file_that_was_put_back_changes_no_response(tmp_path):
    before = said(tmp_path, "7")
    old = (tmp_path / "ann.key").read_bytes()
    later = {value: said(tmp_path, value) for value in ("8", "9")}
    said(tmp_path, "7", OTHER)
    (tmp_path / "ann.key").write_bytes(old)
    assert said(tmp_path, "7") == before
    assert {value: said(tmp_path, value) for value in ("8", "9")} == later


def test_a_key_knows_under_what_it_answered(tmp_path):
    """p and q are no part of it: they only show what is memoized."""
    for plan, memories in ((CERTAIN, 1), (PLAN, 1), (OTHER, 2), (CERTAIN, 2)):
        found = kept(tmp_path, plan)
        assert len(found.memories) == memories
        assert memory_of(plan) in found.memories
        assert found.key == kept(tmp_path).key
    assert said(tmp_path, "7").bits != said(tmp_path, "7", OTHER).bits


def test_hashed_values_keep_their_cohort(tmp_path):
    plan = make_memoized_plan(hashed_question("word", 64, 2), 0.5, 0.0, 1.0, 8)
    first = said(tmp_path, "日本", plan)
    assert said(tmp_path, "日本", plan) == first
    assert 0 <= first.cohort < 8
    assert len(first.bits) == 8


PROGRAM = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from memoization.test_memory import said

for value in range(40):
    print(said(Path(sys.argv[1]), str(value % 20)).bits.hex())
"""


def race(folder):
    """What each of three processes that start together reports of the same values."""
    tests = os.path.dirname(os.path.dirname(__file__))
    started = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, folder, tests], stdout=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    return [process.communicate(timeout=600)[0].split() for process in started]


def test_processes_at_once_answer_alike(tmp_path):
    one, *others = race(tmp_path)
    assert len(one) == 40
    assert len(set(one)) == 20
    assert all(other == one for other in others)
    assert [path.name for path in tmp_path.iterdir()] == ["ann.key"]


def test_without_the_lock_a_key_is_made_twice(tmp_path, monkeypatch):
    """The planted bug that the race is for: another process reads between reading and writing."""
    true, shown = device_memory.new_key, []

    def meanwhile(chance):
        monkeypatch.setattr(device_memory, "new_key", true)
        shown.append(kept(tmp_path).key)
        return true(chance)

    monkeypatch.setattr(device_memory, "exclusive_lock", lambda *_, **__: nullcontext())
    monkeypatch.setattr(device_memory, "new_key", meanwhile)
    assert kept(tmp_path).key != shown[0]


def test_a_key_is_for_its_owner_only(tmp_path):
    kept(tmp_path)
    for path in tmp_path.iterdir():
        assert path.stat().st_mode & 0o777 == 0o600


def test_a_value_the_question_does_not_have_is_refused():
    with pytest.raises(DataError, match="expected one of the 64 labels"):
        MemoizedDevice(CERTAIN, KEY).report("64", SecureChance())


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_tells_and_answers_nothing(tmp_path, monkeypatch, call):
    kept(tmp_path)
    before = (tmp_path / "ann.key").read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os if call == "fsync" else device_memory.Path, call, full)
    with pytest.raises(DataError, match="no space left"):
        kept(tmp_path, OTHER)
    assert (tmp_path / "ann.key").read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_no_folder_or_a_folder_in_the_way_is_refused(tmp_path):
    with pytest.raises(DataError, match="expected a folder"):
        kept(tmp_path / "none")
    (tmp_path / "ann.key").mkdir()
    with pytest.raises(DataError, match="the key of memoized answers, or no file yet"):
        kept(tmp_path)


def test_without_locks_no_key_is_made(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with pytest.raises(DataError, match="file locks"):
        kept(tmp_path)
    assert not list(tmp_path.iterdir())


def flipped(place):
    return lambda data: data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :]


DAMAGE = {
    "empty": lambda data: data[:0],
    "another file": lambda _: b"hello\n",
    "a first line alone": lambda data: data.split(b"\n")[0] + b"\n",
    "cut in the key": lambda data: data[:60],
    "cut by a byte": lambda data: data[:-1],
    "longer": lambda data: data + b"x",
    "a line more": lambda data: data + b"\n",
    "first byte": flipped(0),
    "no digit": lambda data: data.replace(b"\n", b"\nz", 1)[:-2] + b"\n",
    "large digits": lambda data: data.upper().replace(b"MIXTALLY KEY OF", b"mixtally key of"),
    "no text": lambda data: data + b"\xff\xfe",
    "an older file": lambda _: b"mixtally simulate memoized\n" + bytes(80),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_what_is_no_key_is_refused_and_left_alone(tmp_path, damage):
    kept(tmp_path)
    path = tmp_path / "ann.key"
    damaged = damage(path.read_bytes())
    path.write_bytes(damaged)
    for plan in (CERTAIN, OTHER):
        with pytest.raises(DataError, match="restore the key from its copy"):
            kept(tmp_path, plan)
    assert path.read_bytes() == damaged


def crowd_of(plan, seed=1, people=3000, key=KEY, *, derived=False):
    codes = np.arange(people) % 64
    values = [str(code) for code in codes]
    return memoize_crowd(plan, values, codes, key, SeededChance(seed), derived=derived)


def test_a_crowd_with_a_key_memoizes_answers_of_its_own_and_keeps_them():
    first, again = (crowd_of(PLAN, seed, derived=True) for seed in (1, 2))
    assert np.array_equal(first.responses, again.responses)
    assert len(np.unique(first.responses, axis=0)) == 3000
    people, values = ([str(n) for n in numbers] for numbers in (range(3000), np.arange(3000) % 64))
    assert np.array_equal(MemoizedDevice(PLAN, KEY).responses(people, values), first.responses)
    another = crowd_of(PLAN, key=bytes(32), derived=True)
    assert not np.array_equal(another.responses, first.responses)
    assert not np.array_equal(crowd_of(PLAN, seed=2).responses, crowd_of(PLAN).responses)


@pytest.mark.parametrize("hashed", [False, True])
def test_counts_of_a_crowd_are_those_of_its_people(hashed):
    """With certain reports the counts are those of what is kept, cohort by cohort."""
    question = hashed_question("color", 64, 2) if hashed else QUESTION
    plan = make_memoized_plan(question, 0.5, 0.0, 1.0, 4 if hashed else 1)
    crowd = crowd_of(plan)
    ones = play_reports(crowd, 2, SeededChance(3))
    bits = np.unpackbits(crowd.responses, axis=1, bitorder="little").astype(int)
    for cohort in range(plan.mechanism.cohorts):
        for turn in range(2):
            assert np.array_equal(ones[cohort, turn], bits[crowd.cohorts == cohort].sum(axis=0))
    assert len(set(crowd.cohorts)) == plan.mechanism.cohorts


def test_too_many_counts_are_refused():
    crowd = crowd_of(PLAN)
    for reports in (0, 10**6):
        with pytest.raises(ParameterError, match="Play fewer reports"):
            play_reports(crowd, reports, SeededChance(1))


def test_watching_sees_the_memory_and_not_the_truth():
    """200 reports tell the kept bits; of 192,000 bits 3,000 are true ones.

    0.25 within 0.04, more than 9 deviations.
    """
    seen = measure_recovery(crowd_of(PLAN), 200, SeededChance(9))
    assert seen.memoized < 0.001
    assert seen.true == pytest.approx(0.25, abs=0.04)

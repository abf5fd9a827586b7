"""Memoized responses on disk: drawn once whoever asks, whole or not, never anybody else's."""

import errno
import os
import subprocess
import sys
from contextlib import nullcontext

import numpy as np
import pytest

from mixtally.client import memory_file
from mixtally.client.memory_file import MemoryFile, key_for
from mixtally.errors import DataError, ParameterError, PlanError
from mixtally.ground.chance import SecureChance
from mixtally.records.memoized_plan import hashed_question, memoized_plan
from mixtally.records.question import Question
from mixtally.simulation.memoized.crowd import memoizing, play_reports, watch
from mixtally.simulation.seeded import SeededChance

QUESTION = Question(name="color", bins=64)
PLAN = memoized_plan(QUESTION, 0.5, 0.5, 0.75)
CERTAIN = memoized_plan(QUESTION, 0.5, 0.0, 1.0)
"""Reports show the memory itself."""
KEY = bytes(range(32))


def person(folder, plan=CERTAIN, owner="ann", key=KEY):
    return MemoryFile(folder / "ann.memory", plan, owner, key)


def test_a_person_reports_from_one_memory_for_ever(tmp_path):
    first = person(tmp_path).report("7", SecureChance())
    for _ in range(5):
        assert person(tmp_path).report("7", SecureChance()) == first
    assert person(tmp_path).report("8", SecureChance()).bits != first.bits
    assert person(tmp_path).report("7", SecureChance()) == first


def test_a_memory_that_does_not_reach_the_disk_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(memory_file, "_write", lambda *_: None)
    first = person(tmp_path).report("7", SecureChance())
    assert person(tmp_path).report("7", SecureChance()) != first


def test_hashed_values_keep_their_cohort(tmp_path):
    plan = memoized_plan(hashed_question("word", 64, 2), 0.5, 0.0, 1.0, 8)
    first = person(tmp_path, plan).report("日本", SecureChance())
    assert person(tmp_path, plan).report("日本", SecureChance()) == first
    assert 0 <= first.cohort < 8
    assert len(first.bits) == 8


PROGRAM = """
import sys
from pathlib import Path
from mixtally.ground.chance import SecureChance
from mixtally.client.memory_file import MemoryFile, key_for
from mixtally.records.memoized_plan import memoized_plan
from mixtally.records.question import Question

folder = Path(sys.argv[1])
plan = memoized_plan(Question(name="color", bins=64), 0.5, 0.0, 1.0)
key = key_for(folder / "m", folder / "k", SecureChance())
for value in range(40):
    ann = MemoryFile(folder / "m", plan, "ann", key)
    print(ann.report(str(value % 20), SecureChance()).bits.hex())
"""


def race(folder):
    """What each of three processes that start together reports of the same values."""
    started = [
        subprocess.Popen([sys.executable, "-c", PROGRAM, folder], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    return [process.communicate(timeout=60)[0].split() for process in started]


def test_processes_at_once_draw_every_value_once(tmp_path):
    one, *others = race(tmp_path)
    assert len(one) == 40
    assert len(set(one)) == 20
    assert all(other == one for other in others)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["k", "m"]


def test_without_the_lock_a_value_is_drawn_twice(tmp_path, monkeypatch):
    """The planted bug that the race is for: another process reads between reading and writing."""
    true, shown = memory_file.recall, []

    def meanwhile(*given):
        monkeypatch.setattr(memory_file, "recall", true)
        shown.append(person(tmp_path).report("7", SecureChance()))
        return true(*given)

    monkeypatch.setattr(memory_file, "alone", lambda *_, **__: nullcontext())
    monkeypatch.setattr(memory_file, "recall", meanwhile)
    assert person(tmp_path).report("7", SecureChance()) != shown[0]


def test_files_are_for_their_owner_only(tmp_path):
    key_for(tmp_path / "ann.memory", tmp_path / "key", SecureChance())
    person(tmp_path).report("7", SecureChance())
    for path in tmp_path.iterdir():
        assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("other", "error"),
    [
        ({"plan": PLAN}, PlanError),
        ({"owner": "bob"}, DataError),
        ({"key": bytes(32)}, DataError),
    ],
)
def test_somebody_elses_memory_is_refused_and_left_alone(tmp_path, other, error):
    person(tmp_path).report("7", SecureChance())
    before = (tmp_path / "ann.memory").read_bytes()
    with pytest.raises(error):
        person(tmp_path, **other).report("8", SecureChance())
    assert (tmp_path / "ann.memory").read_bytes() == before


def test_a_damaged_memory_is_refused_and_left_alone(tmp_path):
    person(tmp_path).report("7", SecureChance())
    path = tmp_path / "ann.memory"
    whole = path.read_bytes()
    for damaged in (b"", whole[:-1], whole[:-1] + b"\0", b"hello\n"):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match="restore them from a copy"):
            person(tmp_path).report("7", SecureChance())
        assert path.read_bytes() == damaged


def test_a_value_the_question_does_not_have_draws_nothing(tmp_path):
    with pytest.raises(DataError, match="wanted one of the 64 labels"):
        person(tmp_path).report("64", SecureChance())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_tells_and_reports_nothing(tmp_path, monkeypatch, call):
    person(tmp_path).report("7", SecureChance())
    before = (tmp_path / "ann.memory").read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os if call == "fsync" else memory_file.Path, call, full)
    with pytest.raises(DataError, match="No space left"):
        person(tmp_path).report("8", SecureChance())
    assert (tmp_path / "ann.memory").read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_no_folder_or_a_folder_in_the_way_is_refused(tmp_path):
    with pytest.raises(DataError, match="wanted a folder"):
        person(tmp_path / "none").report("7", SecureChance())
    (tmp_path / "ann.memory").mkdir()
    with pytest.raises(DataError, match="wanted memoized responses"):
        person(tmp_path).report("7", SecureChance())


def test_without_locks_nothing_is_drawn(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with pytest.raises(DataError, match="file locks"):
        person(tmp_path).report("7", SecureChance())
    assert not list(tmp_path.iterdir())


def test_a_key_is_made_once(tmp_path):
    key = key_for(tmp_path / "m", tmp_path / "k", SecureChance())
    assert len(key) == 32
    assert key_for(tmp_path / "m", tmp_path / "k", SecureChance()) == key


@pytest.mark.parametrize("text", ["", "00" * 31, "zz" * 32, "\xff" * 64])
def test_what_is_no_key_is_refused_and_left_alone(tmp_path, text):
    path = tmp_path / "k"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(DataError, match="64 hexadecimal digits"):
        key_for(tmp_path / "m", path, SecureChance())
    assert path.read_bytes() == text.encode("latin-1")


def test_a_memory_whose_key_is_gone_gets_no_new_one(tmp_path):
    (tmp_path / "m").write_bytes(b"mixtally memory\nand more")
    with pytest.raises(DataError, match="restore it from a copy"):
        key_for(tmp_path / "m", tmp_path / "k", SecureChance())
    assert not (tmp_path / "k").exists()


def crowd_of(plan, folder=None, seed=1, people=3000):
    codes = np.arange(people) % 64
    values = [str(code) for code in codes]
    file = folder and MemoryFile(folder / "crowd", plan, "crowd", KEY)
    return memoizing(plan, values, codes, KEY, SeededChance(seed), file)


def test_a_crowd_in_a_file_memoizes_answers_of_its_own_and_keeps_them(tmp_path):
    first, again = (crowd_of(PLAN, tmp_path, seed) for seed in (1, 2))
    assert np.array_equal(first.responses, again.responses)
    assert len(np.unique(first.responses, axis=0)) == 3000
    assert np.array_equal(crowd_of(PLAN, seed=1).responses, first.responses)
    assert not np.array_equal(crowd_of(PLAN, seed=2).responses, first.responses)


@pytest.mark.parametrize("hashed", [False, True])
def test_counts_of_a_crowd_are_those_of_its_people(hashed):
    """With certain reports the counts are those of what is kept, cohort by cohort."""
    question = hashed_question("color", 64, 2) if hashed else QUESTION
    plan = memoized_plan(question, 0.5, 0.0, 1.0, 4 if hashed else 1)
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
        with pytest.raises(ParameterError, match="play fewer reports"):
            play_reports(crowd, reports, SeededChance(1))


def test_watching_sees_the_memory_and_not_the_truth():
    """200 reports tell the kept bits; of 192,000 bits 3,000 are true ones.

    0.25 within 0.04, more than 9 deviations.
    """
    seen = watch(crowd_of(PLAN), 200, SeededChance(9))
    assert seen.memoized < 0.001
    assert seen.true == pytest.approx(0.25, abs=0.04)

"""A played collection: every message there, nothing lost, nothing counted twice."""

import numpy as np
import pytest
from mixtally.simulation.simulate import play

from mixtally.errors import MessageError, ParameterError
from mixtally.records.mechanism.named import clear_shaped, clear_uniform, flip_blank
from mixtally.simulation import simulate
from mixtally.simulation.seeded import SeededChance

NAMES = ["flip-blank", "clear-uniform", "clear-shaped"]


@pytest.mark.parametrize("name", ["flip-blank", "clear-uniform"])
def test_the_batch_is_every_report_and_every_fake(mechanisms, codes, name):
    tally = play(mechanisms[name], codes, SeededChance(1))
    assert tally.messages == len(codes) + mechanisms[name].fakes_promised


@pytest.mark.parametrize("more", [-1, 1])
@pytest.mark.parametrize(
    "mechanism",
    [
        flip_blank(bins=3, fakes=90, threshold=1 << 60),
        clear_uniform(bins=3, fakes=90),
        clear_shaped(bins=3, ratio=1 << 63, shift=5),
    ],
    ids=NAMES,
)
def test_a_batch_that_is_not_filled_exactly_is_refused(mechanism, more, plant):
    """Planted: a device that sends a message too few, or one too many; what mixes add is whole."""
    drawn = "reports" if mechanism.shaped else "fakes"

    def other(honest, its, *what):
        rows = honest(its, *what)
        return rows[:-1] if more < 0 else np.concatenate([rows, rows[:1]])

    plant(simulate, drawn, other)
    with pytest.raises(MessageError, match="batch"):
        play(mechanism, np.arange(9) % 3, SeededChance(1))


@pytest.mark.parametrize("name", NAMES)
def test_only_what_the_mix_hands_over_is_tallied(mechanisms, codes, monkeypatch, name):
    handed = []

    def drop_one(batch, chance):
        handed.append(len(batch) - 1)
        return batch[1:]

    monkeypatch.setattr(simulate, "shuffle", drop_one)
    assert [play(mechanisms[name], codes, SeededChance(1)).messages] == handed


@pytest.mark.parametrize("name", ["clear-uniform", "clear-shaped"])
def test_records_in_clear_are_all_counted_once(mechanisms, codes, name):
    mechanism = mechanisms[name]
    tally = play(mechanism, codes, SeededChance(1))
    added = tally.counts - np.bincount(codes, minlength=mechanism.bins)
    assert added.min() >= 0
    assert tally.counts.sum() == tally.messages
    assert added.sum() == tally.messages - len(codes)


def test_shaped_fakes_stay_within_their_law(mechanisms, codes):
    mechanism = mechanisms["clear-shaped"]
    tally = play(mechanism, codes, SeededChance(1))
    added = tally.counts - np.bincount(codes, minlength=mechanism.bins)
    assert added.max() <= 2 * mechanism.fakes.shift
    assert len(np.unique(added)) > 5


def test_without_fakes_and_almost_without_flips_the_tally_is_the_truth():
    """False alarm: 15 bits flip with probability 2^-40 each."""
    mechanism = flip_blank(bins=3, fakes=0, threshold=1 << 24)
    codes = np.array([0, 2, 2, 1, 2])
    assert play(mechanism, codes, SeededChance(1)).counts.tolist() == [1, 1, 3]


@pytest.mark.parametrize("name", NAMES)
def test_progress_counts_up_to_its_total_step_by_step(mechanisms, codes, monkeypatch, name):
    monkeypatch.setattr(simulate, "_SPAN_BYTES", 1 << 12)
    calls = {}

    def progress(step, done, total):
        calls.setdefault(step, []).append((done, total))

    tally = play(mechanisms[name], codes, SeededChance(1), progress)
    assert list(calls) == ["randomize", "tally"]
    totals = {"randomize": len(codes), "tally": tally.messages}
    for step, seen in calls.items():
        done = [one for one, _ in seen]
        assert done == sorted(set(done))
        assert len(done) > 1
        assert {total for _, total in seen} == {done[-1]} == {totals[step]}


@pytest.mark.seconds
@pytest.mark.parametrize("name", NAMES)
def test_the_size_of_a_span_changes_no_count_of_messages(mechanisms, codes, monkeypatch, name):
    monkeypatch.setattr(simulate, "_SPAN_BYTES", 1)
    mechanism, few = mechanisms[name], codes[:200]
    tally = play(mechanism, few, SeededChance(1))
    if name != "clear-shaped":
        assert tally.messages == len(few) + mechanism.fakes_promised
    else:
        assert tally.counts.sum() == tally.messages


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_repeats_and_another_differs(mechanisms, codes, name):
    first, again, other = (play(mechanisms[name], codes, SeededChance(s)) for s in (1, 1, 2))
    assert first.counts.tolist() == again.counts.tolist()
    assert first.counts.tolist() != other.counts.tolist()


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_too_large_for_memory_is_refused_before_it_is_made(
    mechanisms, codes, monkeypatch, name
):
    monkeypatch.setattr(simulate, "MOST_BATCH_BYTES", 50_000)
    with pytest.raises(ParameterError, match=r"batch: wanted at most 0\.0 GB"):
        play(mechanisms[name], codes, SeededChance(1))


def test_the_limit_of_a_batch_counts_fakes_and_the_shuffled_copy(monkeypatch):
    mechanism, codes = clear_uniform(bins=200, fakes=900), np.zeros(100, dtype=np.int64)
    needed = 1000 * (2 * 1 + 32)
    monkeypatch.setattr(simulate, "MOST_BATCH_BYTES", needed)
    assert play(mechanism, codes, SeededChance(1)).messages == 1000
    monkeypatch.setattr(simulate, "MOST_BATCH_BYTES", needed - 1)
    with pytest.raises(ParameterError, match="1,000 messages of 1 bytes"):
        play(mechanism, codes, SeededChance(1))

"""A played collection: every message there, nothing lost, nothing counted twice."""

import numpy as np
import pytest

from helpers.contracts import flipped, plan_of, proved, shaped, uniform
from mixtally.errors import ParameterError
from mixtally.lab.data.population import Population
from mixtally.lab.simulation import play as module
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.play import play_parts
from mixtally.lab.simulation.run import simulate_release
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.contract import FakeRecord, OwnFakes
from mixtally.model.question import Question
from simulation.rounds import fakes_in, tally_of

NAMES = ["flip-blank", "clear-uniform", "clear-shaped"]


@pytest.mark.parametrize("name", ["flip-blank", "clear-uniform"])
def test_the_batch_is_every_report_and_every_fake(parts, codes, name):
    """Coins fall within six deviations of their mean; false alarm 2 * 10^-9."""
    own = parts[name].own
    fakes = fakes_in(parts[name], tally_of(parts[name], codes, SeededChance(1)), len(codes))
    coin = own.coin / 2**64
    spread = 6 * (len(codes) * coin * (1 - coin)) ** 0.5
    assert abs(fakes - len(codes) * own.mean) < spread


@pytest.mark.parametrize("more", [-1, 1])
@pytest.mark.parametrize(
    ("part", "drawn"),
    [
        (uniform(3, whole=1, coin=0), "randomize_records"),
        (uniform(3, whole=1, coin=0), "draw_part_fakes"),
        (shaped(3), "randomize_records"),
    ],
)
def test_a_round_of_a_message_too_few_or_too_many_is_refused(part, drawn, more, plant):
    """Planted: a device that sends one too few, or one too many; what mixes add is declared."""
    people, question = 600, Question(name="q", bins=3)
    plan = proved(plan_of(question, [part], users=people, hops=1))
    crowd = Population(question, np.arange(people) % 3)
    assert simulate_release(plan, crowd, Lab(SeededChance(1))).refusal is None

    def other(honest, *given):
        found = honest(*given)
        rows = found if drawn == "randomize_records" else found[0]
        rows = rows[:-1] if more < 0 else np.concatenate([rows, rows[:1]])
        return rows if drawn == "randomize_records" else (rows, len(rows))

    plant(module, drawn, other)
    assert (
        "messages of people in part 1"
        in simulate_release(plan, crowd, Lab(SeededChance(1))).refusal
    )


@pytest.mark.parametrize("name", NAMES)
def test_only_what_the_mix_hands_over_is_tallied(parts, codes, monkeypatch, name):
    handed = []

    def drop_one(batch, chance):
        handed.append(len(batch) - 1)
        return batch[1:]

    monkeypatch.setattr(module, "shuffle", drop_one)
    assert [tally_of(parts[name], codes, SeededChance(1)).messages] == handed


@pytest.mark.parametrize("name", ["clear-uniform", "clear-shaped"])
def test_records_in_clear_are_all_counted_once(parts, codes, name):
    part = parts[name]
    tally = tally_of(part, codes, SeededChance(1))
    added = tally.counts - np.bincount(codes, minlength=part.bins)
    assert added.min() >= 0
    assert tally.counts.sum() == tally.messages
    assert added.sum() == tally.messages - len(codes)


def test_shaped_fakes_stay_within_their_law(parts, codes):
    part = parts["clear-shaped"]
    tally = tally_of(part, codes, SeededChance(1))
    added = tally.counts - np.bincount(codes, minlength=part.bins)
    assert added.max() <= 2 * part.recipe.shift
    assert len(np.unique(added)) > 5


def test_without_fakes_and_almost_without_flips_the_tally_is_the_truth():
    """False alarm: 15 bits flip with probability 2^-40 each."""
    codes = np.array([0, 2, 2, 1, 2])
    assert tally_of(flipped(3, q=2**-40), codes, SeededChance(1)).counts.tolist() == [1, 1, 3]


@pytest.mark.parametrize("name", NAMES)
def test_progress_counts_up_to_its_total_step_by_step(parts, codes, monkeypatch, name):
    monkeypatch.setattr(module, "_SPAN_BYTES", 1 << 12)
    calls = {}

    def progress(step, done, total):
        calls.setdefault(step, []).append((done, total))

    tally_of(parts[name], codes, SeededChance(1), progress, row=3)
    assert list(calls) == ["randomize", "mix"]
    totals = {"randomize": len(codes), "mix": 3}
    for step, seen in calls.items():
        done = [one for one, _ in seen]
        assert done == sorted(set(done))
        assert len(done) > 1
        assert {total for _, total in seen} == {done[-1]} == {totals[step]}


@pytest.mark.seconds
@pytest.mark.parametrize("name", NAMES)
def test_the_size_of_a_span_changes_no_count_of_messages(parts, codes, monkeypatch, name):
    monkeypatch.setattr(module, "_SPAN_BYTES", 1)
    part, few = parts[name], codes[:200]
    tally = tally_of(part, few, SeededChance(1))
    if part.own is not None:
        assert len(few) * part.least < tally.messages < len(few) * part.most
    else:
        assert tally.counts.sum() == tally.messages


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_repeats_and_another_differs(parts, codes, name):
    first, again, other = (tally_of(parts[name], codes, SeededChance(s)) for s in (1, 1, 2))
    assert first.counts.tolist() == again.counts.tolist()
    assert first.counts.tolist() != other.counts.tolist()


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_too_large_for_memory_is_refused_before_it_is_made(parts, codes, monkeypatch, name):
    monkeypatch.setattr(module, "MOST_BATCH_BYTES", 50_000)
    with pytest.raises(ParameterError, match=r"batch: expected at most 0\.0 GB"):
        tally_of(parts[name], codes, None)


def test_the_limit_of_a_batch_counts_fakes_and_the_shuffled_copy(monkeypatch):
    part, codes = uniform(200, whole=9, coin=0), np.zeros(100, dtype=np.int64)
    needed = 1000 * (2 * 1 + 32)
    monkeypatch.setattr(module, "MOST_BATCH_BYTES", needed)
    assert tally_of(part, codes, SeededChance(1)).messages == 1000
    monkeypatch.setattr(module, "MOST_BATCH_BYTES", needed - 1)
    with pytest.raises(ParameterError, match=r"1,000 messages of 1 byte\."):
        tally_of(part, codes, SeededChance(1))


def test_parts_are_streams_of_their_own():
    """The first part of two is what it is alone: nothing of one stands in the other."""
    several = [uniform(4, whole=1, coin=0), flipped(3, own=OwnFakes(FakeRecord.BLANK, 2, 0))]
    codes = np.arange(90) % 4, np.arange(90) % 3
    both = play_parts(several, 2, codes, SeededChance(1))
    alone = play_parts(several[:1], 2, codes[:1], SeededChance(1))
    assert both.tallies[0].counts.tolist() == alone.tallies[0].counts.tolist()
    assert [part.received for part in both.received.parts] == [180, 270]

"""Plans of every form, concluded as one process does: nobody declares, and intervals hold."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pytest
from msgspec.structs import replace

from helpers.contracts import flipped, plan_of, shaped, uniform
from helpers.sampled import each, exhaustive
from mixtally.errors import MessageError, PlanError
from mixtally.lab.simulation.counts_only import draw_part
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.contract import FakeRecord, OwnFakes, Shape
from mixtally.model.estimates import Tally
from mixtally.model.question import Kind, Question, make_attributes_question
from mixtally.protocol.estimate.conclude import conclude
from mixtally.protocol.estimate.conclude.combined_parts import part_of, select_counted_bins
from mixtally.protocol.estimate.noise import NoiseCache
from mixtally.protocol.estimate.received import (
    assume_received,
    reconcile_mechanism,
    reconcile_parts,
)

PEOPLE, RUNS = 600, 120
SHARES = np.array([0.5, 0.25, 0.15, 0.1])
BLANK = OwnFakes(FakeRecord.BLANK, 0, 1 << 63)
SPREAD = OwnFakes(FakeRecord.UNIFORM, 1, 1 << 63)
ONE = Question(name="q", bins=4)
SETS = Question(name="q", bins=4, kind=Kind.SET, max_set=3)
BITS = Question(name="q", bins=4, kind=Kind.BITS)
TWO = make_attributes_question("q", (4, 2))
FORMS = {
    "shaped": (ONE, [shaped(4, shift=20)]),
    "blanks": (ONE, [flipped(4, blanks=200)]),
    "uniform by coins": (ONE, [uniform(4, whole=1)]),
    "blanks by coins": (ONE, [flipped(4, own=BLANK)]),
    "flipped uniform": (ONE, [flipped(4, own=SPREAD)]),
    "flips": (ONE, [flipped(4)]),
    "flips sent three times": (ONE, [replace(flipped(4, q=0.3), repeats=3)]),
    "sets": (SETS, [flipped(4, most_set=3, blanks=200)]),
    "free bits": (BITS, [flipped(4, most_set=None)]),
    "bits among zeros": (BITS, [flipped(1, most_set=None, blanks=90)] * 4),
    "bits in clear": (BITS, [shaped(2, shift=20)] * 4),
    "attributes": (TWO, [uniform(4), uniform(2, whole=2)]),
    "attributes of mixes": (TWO, [shaped(4, shift=20), flipped(2, blanks=90)]),
}


def plan(name, hops=3):
    question, parts = FORMS[name]
    return plan_of(question, parts, users=PEOPLE, hops=hops)


def held(question):
    """How many people hold each bin of the question."""
    if question.attributes is not None:
        return np.concatenate([np.round(SHARES * PEOPLE), [200, 400]]).astype(np.int64)
    return np.round(SHARES * PEOPLE).astype(np.int64)


def crowds(made):
    """How many people hold each bin of every part."""
    own, asked = made.question, made.questions
    truth = held(own)
    if len(asked) == 1:
        return [truth]
    sizes = own.attributes or (1,) * own.bins
    split = np.split(truth, np.cumsum(sizes)[:-1])
    if own.attributes is None and asked[0].kind is Kind.ONE:
        return [np.array([PEOPLE - int(one[0]), int(one[0])]) for one in split]
    return split


def tallies_of(made, chance):
    return [
        draw_part(part, counts, PEOPLE, made.hops, chance)[1]
        for part, counts in zip(made.parts, crowds(made), strict=True)
    ]


@dataclass(frozen=True)
class Seen:
    """Shares inside intervals, of a bin and of all at once; what is off in standard errors."""

    alone: float
    together: float
    off: np.ndarray
    square: float


@lru_cache
def seen(name, hops=3, told=None):
    """Of many rounds; ``told`` gives what is concluded from instead of what came."""
    made, truth, chance, noises = (
        plan(name, hops),
        held(FORMS[name][0]),
        SeededChance(5),
        NoiseCache(),
    )
    alone, together, off = [], [], []
    for _ in range(RUNS):
        tallies = tallies_of(made, chance)
        received = None if told is None else told(made, tallies)
        found = conclude(made, tallies, received=received, noises=noises).estimate
        alone.append((found.individual.lower <= truth) & (truth <= found.individual.upper))
        inside = (found.simultaneous.lower <= truth) & (truth <= found.simultaneous.upper)
        together.append(inside.all())
        errors = found.standard_error if found.errors is None else found.errors
        off.append((found.counts - truth) / errors)
    return Seen(
        float(np.mean(alone)), float(np.mean(together)), np.mean(off, axis=0),
        float(np.mean(np.square(off))),
    )  # fmt: skip


@pytest.mark.parametrize("name", each(FORMS, 4, 3))
def test_intervals_of_every_form_hold_and_counts_are_unbiased(name):
    """480 bins or more: false alarm below 1e-4 a form; bits of one bin move together."""
    found = seen(name)
    assert found.alone > 0.91
    assert found.together > 0.88
    assert np.abs(found.off).max() * RUNS**0.5 < 5
    assert found.square == pytest.approx(1.0, abs=0.3)


@pytest.mark.parametrize("hops", [1, 2, *exhaustive([5])])
@pytest.mark.parametrize("name", ["shaped", "blanks"])
def test_every_hop_of_a_mix_cover_is_counted(name, hops):
    found = seen(name, hops)
    assert found.alone > 0.91
    assert np.abs(found.off).max() * RUNS**0.5 < 5
    assert found.square == pytest.approx(1.0, abs=0.3)


def of_one_hop(made, tallies):
    """The twin: only the first hop is taken to have drawn."""
    received = assume_received(made, PEOPLE, tallies)
    parts = tuple(
        replace(one, declared=(one.added_count, *(None,) * (made.hops - 1)))
        for one in received.parts
    )
    return replace(received, parts=parts)


def test_the_twin_that_counts_one_hop_alone_is_found():
    with pytest.raises(MessageError, match="hop 1"):
        seen("shaped", told=of_one_hop)


@pytest.mark.parametrize("hops", [1, 2, 3, 5])
@pytest.mark.parametrize("name", ["blanks", "bits among zeros", "flips", "flips sent three times"])
def test_a_message_too_few_or_too_many_is_noticed(name, hops):
    made = plan(name, hops)
    tallies = tallies_of(made, SeededChance(1))
    conclude(made, tallies)
    for off in (-1, 1):
        wrong = [Tally(one.counts, one.messages + off) for one in tallies]
        with pytest.raises(MessageError):
            conclude(made, wrong)


@pytest.mark.parametrize("hops", [1, 2, 3, 5])
def test_the_fakes_of_a_hop_are_missed(hops):
    made = plan("shaped", hops)
    (tally,) = tallies_of(made, SeededChance(1))
    less = Tally(tally.counts, tally.messages - 4 * 20 * (1 + hops // 4))
    with pytest.raises(MessageError):
        conclude(made, [less])


@pytest.mark.parametrize("name", FORMS)
def test_what_came_says_how_many_fakes_there_were(name):
    made = plan(name)
    tallies = tallies_of(made, SeededChance(2))
    parts = reconcile_parts(made, assume_received(made, PEOPLE, tallies))
    for part, one, tally in zip(made.parts, parts, tallies, strict=True):
        assert one.people == PEOPLE
        sent = PEOPLE * part.repeats
        if isinstance(part.recipe, Shape):
            assert one.mechanism.fakes.mixes == made.hops
        else:
            assert one.mechanism.fakes_promised == tally.messages - sent
    if len(parts) == 1:
        assert reconcile_mechanism(made, tallies[0], PEOPLE) == parts[0].mechanism


def test_a_tally_for_each_part_is_wanted():
    made = plan("attributes")
    with pytest.raises(PlanError, match="a tally for each of the 2 messages"):
        conclude(made, tallies_of(made, SeededChance(1))[:1])


def test_of_a_bit_in_clear_only_yes_is_counted():
    bit = Question(name="q", bins=2)
    assert select_counted_bins(BITS, bit) == slice(1, 2)
    assert select_counted_bins(ONE, bit) == slice(None)


def test_every_bin_of_a_record_is_in_a_part():
    """Two attributes of four and two bins; four bits, each of a message of its own, and in one."""
    two, four = plan("attributes"), plan("bits in clear")
    assert [part_of(TWO, list(two.questions), place) for place in range(6)] == [
        *((0, at) for at in range(4)),
        (1, 0),
        (1, 1),
    ]
    assert [part_of(BITS, list(four.questions), place) for place in range(4)] == [
        (part, 1) for part in range(4)
    ]
    assert part_of(BITS, list(plan("free bits").questions), 3) == (0, 3)

"""A batch is counted when it is whole: no fake forgotten, no message twice."""

import numpy as np
import pytest

from helpers import least
from helpers.named import (
    clear_shaped,
    clear_uniform,
    flip_bits,
    flip_blank,
    flip_uniform,
    single_bit,
)
from mixtally.errors import MessageError
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.estimates import Tally
from mixtally.model.shape import ratio_of
from mixtally.primitives.fixed_point import threshold_of
from mixtally.protocol.estimate import received_fakes
from mixtally.protocol.estimate.debias import estimate_counts
from reference.played import play

USERS, FLIP = 500, threshold_of(0.2)
EXACT = {
    "flip-blank": flip_blank(bins=3, fakes=400, threshold=FLIP),
    "flip-blank, no fakes": flip_blank(bins=3, fakes=0, threshold=FLIP),
    "flip-uniform": flip_uniform(bins=3, fakes=400, threshold=FLIP),
    "clear-uniform": clear_uniform(bins=3, fakes=123),
    "single-bit": single_bit(fakes=7, threshold=FLIP, crowd=USERS),
    "flip": flip_bits(bins=3, threshold=FLIP, crowd=USERS),
    "flip, sent four times": flip_bits(
        bins=3, threshold=FLIP, crowd=USERS, repeats=4
    ),
}  # fmt: skip
SHAPED = {
    "two bins": clear_shaped(bins=2, **least.shape(1.0, 1e-6)),
    "many bins": clear_shaped(bins=1000, **least.shape(1.0, 1e-6)),
    "three mixes": clear_shaped(bins=3, **least.shape(1.0, 1e-6), mixes=3),
    "a steep law": clear_shaped(bins=10, ratio=ratio_of(20), shift=3),
    "a flat law": clear_shaped(bins=2, ratio=ratio_of(1e-3), shift=5),
}


def estimated(mechanism, messages, users=USERS):
    return estimate_counts(
        mechanism, Tally(np.zeros(mechanism.bins, dtype=np.int64), messages), users
    )


@pytest.mark.parametrize("name", EXACT)
def test_every_message_is_awaited_and_none_is_counted_twice(name):
    mechanism = EXACT[name]
    own = USERS * mechanism.repeats
    whole = own + mechanism.fakes_promised
    assert estimated(mechanism, whole).counts.shape == (mechanism.bins,)
    for off, told in ((-1, "1 too few"), (1, "1 too many"), (-whole, f"{whole:,} too few")):
        with pytest.raises(MessageError, match=f"messages, {told}"):
            estimated(mechanism, whole + off)
    if mechanism.fakes_promised:
        with pytest.raises(
            MessageError, match=f"got {own:,} messages, {mechanism.fakes_promised:,} too few"
        ):
            estimated(mechanism, own)


@pytest.mark.parametrize("name", EXACT)
def test_another_number_of_people_is_noticed(name):
    mechanism = EXACT[name]
    whole = USERS * mechanism.repeats + mechanism.fakes_promised
    for users in (0, USERS - 1, USERS + 1):
        with pytest.raises(MessageError, match="too"):
            estimated(mechanism, whole, users)


@pytest.mark.parametrize("name", EXACT)
def test_played_batches_are_whole(name):
    mechanism = EXACT[name]
    records = np.zeros(USERS, dtype=np.int64) if name != "flip" else np.zeros((USERS, 1), np.uint8)
    estimate_counts(mechanism, play(mechanism, records, SeededChance(1)), USERS)


@pytest.mark.parametrize("name", SHAPED)
def test_the_fakes_of_a_mix_are_as_many_as_it_draws(name):
    """False alarm 20 in 10^9 a case: twenty collections are never refused."""
    mechanism, chance = SHAPED[name], SeededChance(2)
    for _ in range(20):
        tally = play(mechanism, np.zeros(USERS, dtype=np.int64), chance)
        estimate_counts(mechanism, tally, USERS)


@pytest.mark.parametrize("name", ["two bins", "many bins", "three mixes", "a steep law"])
def test_the_fakes_of_a_mix_are_missed(name):
    mechanism = SHAPED[name]
    for messages, told in ((USERS, "too few"), (USERS + 3 * mechanism.fakes_promised, "too many")):
        with pytest.raises(MessageError, match=told):
            estimated(mechanism, messages)


@pytest.mark.parametrize(("bins", "mixes", "shift"), [(2, 1, 4), (5, 1, 3), (3, 2, 27)])
def test_what_is_refused_of_a_mix_is_rarer_than_one_in_a_billion(bins, mixes, shift):
    """The number of all fakes has that law, convolved; the bound is fewer than 6 fakes from it."""
    mechanism = clear_shaped(bins=bins, ratio=ratio_of(0.9), shift=shift, mixes=mixes)
    one = law = np.array([float(w) / 2.0**64 for w in mechanism.fakes.shape.weights])
    for _ in range(bins * mixes - 1):
        law = np.convolve(law, one)
    middle, (few, many) = (
        mechanism.fakes_promised,
        received_fakes.bound_fake_count(mechanism.fakes, bins),
    )
    below, above = law[middle::-1], law[middle:]
    assert below[few + 1 :].sum() + above[many + 1 :].sum() <= 1e-9
    for side, off in ((below, few), (above, many)):
        assert side[off + 1 :].sum() <= 0.5e-9
        assert side[max(0, off - 5) :].sum() > 0.5e-9

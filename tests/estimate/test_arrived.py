"""A batch is counted when it is whole: no fake forgotten, no message twice."""

import numpy as np
import pytest

import least
from mixtally.errors import MessageError
from mixtally.estimate import arrived
from mixtally.estimate.debias import estimate_counts
from mixtally.ground.fixed import threshold_of
from mixtally.lab.seeded import SeededChance
from mixtally.lab.simulate import play
from mixtally.protocols.clear_shaped import ClearShaped, ratio_of
from mixtally.protocols.clear_uniform import ClearUniform
from mixtally.protocols.flip_blank import FlipBlank
from mixtally.protocols.flip_uniform import FlipUniform
from mixtally.protocols.flip_vector import FlipVector
from mixtally.protocols.single_bit import SingleBit
from mixtally.records.results import Tally

USERS, FLIP = 500, threshold_of(0.2)
EXACT = {
    "flip-blank": FlipBlank(bins=3, fakes=400, threshold=FLIP),
    "flip-blank, no fakes": FlipBlank(bins=3, fakes=0, threshold=FLIP),
    "flip-uniform": FlipUniform(bins=3, fakes=400, threshold=FLIP),
    "clear-uniform": ClearUniform(bins=3, fakes=123),
    "single-bit": SingleBit(bins=1, fakes=7, threshold=FLIP, crowd=USERS),
    "flip": FlipVector(bins=3, fakes=0, threshold=FLIP, crowd=USERS),
    "flip, sent four times": FlipVector(
        bins=3, fakes=0, threshold=FLIP, crowd=USERS, repeats=4
    ),
}  # fmt: skip
SHAPED = {
    "two bins": ClearShaped.shaped(2, *least.shape(1.0, 1e-6)),
    "many bins": ClearShaped.shaped(1000, *least.shape(1.0, 1e-6)),
    "three mixes": ClearShaped.shaped(3, *least.shape(1.0, 1e-6), mixes=3),
    "a steep law": ClearShaped.shaped(10, ratio_of(20), 3),
    "a flat law": ClearShaped.shaped(2, ratio_of(1e-3), 5),
}


def estimated(protocol, messages, users=USERS):
    return estimate_counts(
        protocol, Tally(np.zeros(protocol.bins, dtype=np.int64), messages), users
    )


@pytest.mark.parametrize("name", EXACT)
def test_every_message_is_awaited_and_none_is_counted_twice(name):
    protocol = EXACT[name]
    own = USERS * protocol.messages_per_record
    whole = own + protocol.fakes
    assert estimated(protocol, whole).counts.shape == (protocol.bins,)
    for off, told in ((-1, "1 too few"), (1, "1 too many"), (-whole, f"{whole:,} too few")):
        with pytest.raises(MessageError, match=f"messages, {told}"):
            estimated(protocol, whole + off)
    if protocol.fakes:
        with pytest.raises(MessageError, match=f"got {own:,} messages, {protocol.fakes:,} too few"):
            estimated(protocol, own)


@pytest.mark.parametrize("name", EXACT)
def test_another_number_of_people_is_noticed(name):
    protocol = EXACT[name]
    whole = USERS * protocol.messages_per_record + protocol.fakes
    for users in (0, USERS - 1, USERS + 1):
        with pytest.raises(MessageError, match="too"):
            estimated(protocol, whole, users)


@pytest.mark.parametrize("name", EXACT)
def test_played_batches_are_whole(name):
    protocol = EXACT[name]
    records = np.zeros(USERS, dtype=np.int64) if name != "flip" else np.zeros((USERS, 1), np.uint8)
    estimate_counts(protocol, play(protocol, records, SeededChance(1)), USERS)


@pytest.mark.parametrize("name", SHAPED)
def test_the_fakes_of_a_mix_are_as_many_as_it_draws(name):
    """False alarm 20 in 10^9 a case: twenty collections are never refused."""
    protocol, chance = SHAPED[name], SeededChance(2)
    for _ in range(20):
        tally = play(protocol, np.zeros(USERS, dtype=np.int64), chance)
        estimate_counts(protocol, tally, USERS)


@pytest.mark.parametrize("name", ["two bins", "many bins", "three mixes", "a steep law"])
def test_the_fakes_of_a_mix_are_missed(name):
    protocol = SHAPED[name]
    for messages, told in ((USERS, "too few"), (USERS + 2 * protocol.fakes, "too many")):
        with pytest.raises(MessageError, match=told):
            estimated(protocol, messages)


@pytest.mark.parametrize(("bins", "mixes", "shift"), [(2, 1, 4), (5, 1, 3), (3, 2, 27)])
def test_what_is_refused_of_a_mix_is_rarer_than_one_in_a_billion(bins, mixes, shift):
    """The number of all fakes has that law, convolved; the bound is fewer than 6 fakes from it."""
    protocol = ClearShaped.shaped(bins, ratio_of(0.9), shift, mixes)
    one = law = np.array([float(w) / 2.0**64 for w in protocol.weights])
    for _ in range(bins * mixes - 1):
        law = np.convolve(law, one)
    middle, off = protocol.fakes, arrived._most_off(protocol)

    def beyond(off):
        return law[: max(0, middle - off)].sum() + law[middle + off + 1 :].sum()

    assert beyond(off) <= 1e-9
    assert beyond(off - 6) > 1e-9

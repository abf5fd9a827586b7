"""Faults planted in the product, one at a time: the attack notices each, and accuses nothing sound.

A fault is put in the place of the code that runs, not into a device made for the purpose. An audit
of sound code fails by chance with probability at most 1e-4; there are eight here.
"""

import sys
from functools import partial
from itertools import count

import numpy as np
import pytest
from msgspec.structs import replace

from attacks.mechanisms import target as claim_of
from helpers.named import clear_shaped, clear_uniform, flip_bits, flip_blank
from mixtally.device.client import draw
from mixtally.lab.attacks import MemoizedTarget, Verdict, run_attacks
from mixtally.lab.attacks.device import Device
from mixtally.lab.attacks.memoized import memoized_target
from mixtally.model.shape import ratio_of
from mixtally.primitives import chance as ground_chance
from mixtally.primitives import flips
from mixtally.primitives.draw import draw_permutation
from mixtally.primitives.fixed_point import threshold_of

FLIPS = flip_blank(bins=301, fakes=500, threshold=threshold_of(1e-4))
CLEAR = clear_uniform(bins=300, fakes=500)
SOUND = {
    "flips": FLIPS,
    "clear": CLEAR,
    "shaped": clear_shaped(bins=300, ratio=ratio_of(0.5), shift=20, mixes=2),
    "sets": clear_shaped(bins=60, ratio=ratio_of(0.25), shift=40, mixes=2, max_set=2),
    "repeats": flip_bits(bins=60, threshold=threshold_of(0.3), crowd=90, repeats=2),
}
MEMOIZED = memoized_target(0.5, 0.5, 0.75, 1, 5, 64)
SHUFFLING = sys.modules["mixtally.protocol.mixing"]
PLAY, PARTS = (
    sys.modules["mixtally.lab.simulation.play"],
    sys.modules["mixtally.protocol.randomize.parts"],
)


def found(target, lab, **parts):
    if not isinstance(target, MemoizedTarget):
        target = claim_of(target)
    (outcome,) = run_attacks(target, lab(**parts), "collection")
    return outcome


@pytest.mark.seconds
@pytest.mark.parametrize("name", SOUND)
def test_a_sound_collection_is_not_accused(name, lab):
    outcome = found(SOUND[name], lab)
    assert outcome.verdict is Verdict.CONSISTENT, outcome.numbers["flags"]


@pytest.mark.parametrize(
    "target",
    [
        MEMOIZED,
        memoized_target(0.1, 0.0, 1.0, 1, 3, 9),
        memoized_target(0.5, 0.2, 0.9, 2, 3, 40),
    ],
)
def test_sound_memoized_answers_are_not_accused(target, lab):
    outcome = found(target, lab)
    assert outcome.verdict is Verdict.CONSISTENT, outcome.numbers["flags"]


def half_the_flips(patch):
    right = PARTS.flip_rows

    def soft(rows, how, *rest):
        return right(rows, how._replace(threshold=how.threshold // 2), *rest)

    patch.setattr(PARTS, "flip_rows", soft)


def a_bare_last_bit(patch):
    """The last coin of every batch never falls: all of a lone device's last bin."""
    right = flips.draw_coin_positions

    def shy(chance, threshold, length, memo):
        ones = right(chance, threshold, length, memo)
        return ones[ones < length - 1]

    patch.setattr(flips, "draw_coin_positions", shy)


def fakes_missing(patch):
    """Of every span of people a twentieth forgets its fakes."""
    right = PLAY.draw_part_fakes

    def fewer(part, people, *rest):
        return right(part, people - people // 20, *rest)

    patch.setattr(PLAY, "draw_part_fakes", fewer)


def a_hop_that_adds_less(patch):
    right = PLAY.draw_recipe_messages

    def fewer(*given):
        rows = right(*given)
        return rows[: len(rows) * 9 // 10]

    patch.setattr(PLAY, "draw_recipe_messages", fewer)


def pads_without_fakes(patch):
    """Hops draw for the bins alone, not for the two pads of a set."""
    right = PLAY.draw_recipe_messages

    def bare(recipe, layout, *rest):
        return right(recipe, replace(layout, bins=layout.bins - 2), *rest)

    patch.setattr(PLAY, "draw_recipe_messages", bare)


def a_block_shuffle(patch):
    def in_blocks(chance, size):
        starts = range(0, size, 1000)
        return np.concatenate([s + draw_permutation(chance, min(1000, size - s)) for s in starts])

    patch.setattr(SHUFFLING, "draw_permutation", in_blocks)


def no_large_shuffle(patch):
    def small_only(chance, size):
        return draw_permutation(chance, size) if size <= 10_000 else np.arange(size)

    patch.setattr(SHUFFLING, "draw_permutation", small_only)


def clear_after_the_first_chunk(patch):
    calls, right = count(), PLAY.randomize_records

    def careless(part, records, chance, memo):
        first = next(calls) < 2  # the first person stands in front
        return right(part, records, chance, memo) if first else part.layout.rows(records)

    patch.setattr(PLAY, "randomize_records", careless)


def a_keystream_that_repeats(patch):
    """After 4,096 words it begins again."""
    right = ground_chance.Keystream.words

    def short(self, size):
        return np.resize(right(self, min(size, 4096)), size)

    patch.setattr(ground_chance.Keystream, "words", short)


def one_key_for_all(patch):
    """Every secure source has the same key; the chance of the attack, seeded, is sound."""
    patch.setattr(ground_chance.os, "urandom", bytes)


PLANTED = [
    (FLIPS, half_the_flips), (FLIPS, a_bare_last_bit), (CLEAR, fakes_missing),
    (FLIPS, fakes_missing), (SOUND["shaped"], a_hop_that_adds_less),
    (SOUND["sets"], pads_without_fakes), (SOUND["sets"], a_hop_that_adds_less),
    (CLEAR, a_block_shuffle), (CLEAR, no_large_shuffle), (FLIPS, clear_after_the_first_chunk),
    (CLEAR, a_keystream_that_repeats), (CLEAR, one_key_for_all),
]  # fmt: skip


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("mechanism", "plant"), PLANTED, ids=[f"{p.name}-{f.__name__}" for p, f in PLANTED]
)
def test_what_is_planted_in_the_product_is_noticed(mechanism, plant, lab, monkeypatch):
    plant(monkeypatch)
    assert found(mechanism, lab).verdict is Verdict.VIOLATED


@pytest.mark.seconds
def test_a_device_alone_that_never_flips_its_last_bit_is_noticed(lab):
    """The code of one device is written apart from that of batches."""

    def bare(part, words):
        message = bytearray(draw.draw_fake(part, words))
        last = part.bins - 1
        message[last >> 3] &= ~(1 << (last & 7)) & 0xFF
        return bytes(message)

    assert found(FLIPS, lab, device=Device(fake=bare)).verdict is Verdict.VIOLATED


def planted(patch, wrong):
    """Devices derive as ``wrong`` says, which is given how they do it right."""
    from mixtally.lab.memoization import memoized_device

    patch.setattr(
        memoized_device, "derive_response", partial(wrong, memoized_device.derive_response)
    )


def redrawn(patch):
    """Every report has a key of its own."""
    keys = count()

    def wrong(right, plan, _, persons, values, records):
        return right(plan, next(keys).to_bytes(32), persons, values, records)

    planted(patch, wrong)


def shared_by_all(patch):
    """One response belongs to everybody."""

    def wrong(right, plan, key, persons, _, records):
        everybody = ["all"] * len(persons)
        return right(plan, key, everybody, everybody, records)

    planted(patch, wrong)


def shared_by_value(patch):
    """A response belongs to a value, not to a person and a value."""

    def wrong(right, plan, key, persons, values, records):
        return right(plan, key, ["all"] * len(persons), values, records)

    planted(patch, wrong)


@pytest.mark.parametrize("plant", [redrawn, shared_by_all, shared_by_value])
def test_what_is_planted_in_memoized_answers_is_noticed(plant, lab, monkeypatch):
    plant(monkeypatch)
    assert found(MEMOIZED, lab).verdict is Verdict.VIOLATED

"""Bugs planted in the divergences of several messages are noticed by the comparison with
enumeration.

A bug that only widens an upper bound that is no exact distribution is safe and passes unseen.
"""

import dataclasses

import pytest
from msgspec.structs import replace

from mixtally.errors import AccountingError
from mixtally.ground.fixed import SCALE
from mixtally.ground.memo import Memo
from mixtally.privacy import accountant, messages
from mixtally.privacy.accountant import Accountant
from mixtally.privacy.composition.convolve import Sum
from mixtally.privacy.divergence import Bound, repeats, single_bit
from mixtally.privacy.divergence.registry import divergence_of
from mixtally.privacy.numerics import blanket
from privacy import several_cases as several

RARE, OFTEN = SCALE * 7 // 32, SCALE * 13 // 32


def cases(suite, *, threshold=RARE, **given):
    """Those of a suite with these parameters, None for one that is left out."""
    return [
        case._replace(thresholds=(threshold,) if case.thresholds != (None,) else (None,))
        for case in several.SUITES[suite]()
        if all(case.given.get(field) == value for field, value in given.items())
    ]


BITS = cases("split", bits=2, repeats=None, background=None)
TWICE = cases("clear", repeats=2, split=None)
ALONE = cases("blanks", count_crowd=None, max_set=None, bins=None)
PARTS = cases("split", max_set=2, repeats=None, users=None, fakes=2)
PARTED_TWICE = cases("split", max_set=2, repeats=2, users=None)
CROWD = cases("blanks", threshold=OFTEN, count_crowd=True, max_set=None, fakes=1)
TWO_HOT_CROWD = cases("blanks", threshold=OFTEN, count_crowd=True, max_set=2, repeats=None)
SUMS = cases("flips", bins=3, max_set=None, repeats=2, observer=several.SUMS["observer"])
ZEROS = cases("split", bits=2, repeats=None, background="zero")
LOWER = cases("flips", threshold=OFTEN, bits=2, repeats=2, observer=None)
REPEATED = cases("bits")
VECTORS = cases("flips", bits=2, repeats=None)
SUITES = {
    "bits": BITS, "twice": TWICE, "alone": ALONE, "parts": PARTS, "parted twice": PARTED_TWICE,
    "crowd": CROWD, "two-hot crowd": TWO_HOT_CROWD, "sums": SUMS, "vectors": VECTORS,
    "among zeros": ZEROS, "lower": LOWER, "repeated bits": REPEATED,
}  # fmt: skip


def noticed(suite):
    """Whether a number does not hold, or stops the work."""
    try:
        return any(fault for case in SUITES[suite] for fault in case.faults())
    except (AccountingError, IndexError, ValueError):
        return True


@pytest.mark.parametrize("suite", SUITES)
def test_without_a_bug_every_comparison_passes(suite):
    assert SUITES[suite]
    assert not noticed(suite)


@pytest.mark.parametrize("suite", ["twice", "parted twice", "sums"])
def test_repeats_ignored_are_noticed(plant, suite):
    def once(honest, record):
        sent_once = replace(record.message.mechanism, repeats=1)
        message = record.message._replace(mechanism=sent_once)
        return honest(dataclasses.replace(record, message=message))

    plant(accountant, "_parts", once)
    assert noticed(suite)


@pytest.mark.parametrize("suite", ["bits", "parts", "parted twice", "vectors"])
def test_a_split_into_one_piece_too_few_is_noticed(plant, suite):
    def one_less(honest, record):
        parts = honest(record)
        return dataclasses.replace(parts, pieces=parts.pieces - 1)

    plant(accountant, "_parts", one_less)
    assert noticed(suite)


@pytest.mark.parametrize("suite", ["twice", "bits", "sums"])
def test_a_composition_of_one_distribution_too_few_is_noticed(monkeypatch, suite):
    """Where basic composition does not hide it."""

    class Less(Sum):
        def __init__(self, parts):
            super().__init__([(pmf, times - 1) for pmf, times in parts])

    monkeypatch.setattr(messages, "Sum", Less)
    assert noticed(suite)


@pytest.mark.parametrize("suite", ["twice", "sums", "parts"])
def test_an_epsilon_that_is_not_shared_out_is_noticed(monkeypatch, suite):
    monkeypatch.setattr(messages, "_BELOW", 2.0)
    assert noticed(suite)


@pytest.mark.parametrize("suite", ["twice", "bits", "sums", "parts"])
def test_deltas_that_are_not_added_up_are_noticed(plant, suite):
    """As if one message leaked at the whole record's epsilon and the others nothing."""
    plant(Accountant, "upper", lambda _honest, _self, record, epsilon, **_: _one(record, epsilon))
    assert noticed(suite)


def _one(record, epsilon):
    message = accountant._parts(record).message
    return divergence_of(message).upper(message, [epsilon], Bound.EXACT, Memo(0))[0]


@pytest.mark.parametrize(
    "change",
    [
        lambda honest, k, t, e, _copies, *_: honest(k, t, e, 1),
        lambda honest, k, t, e, copies, *_: honest(k, t, e, copies - 1),
        lambda honest, k, t, e, copies, *_: honest(k + 1, t, e, copies),
        lambda honest, k, t, e, copies, *_: honest(copies * k, t, e, copies),
        lambda honest, k, t, e, copies, *_: honest(k, t, e * (1 + 1e-6), copies),
    ],
    ids=["once", "once less", "a fake more", "fakes sent twice too often", "a larger epsilon"],
)
def test_wrong_copies_among_blanks_are_noticed(plant, change):
    plant(repeats, "among_blanks", change)
    assert noticed("alone")


@pytest.mark.parametrize("module", [repeats, single_bit], ids=["blanks", "bits"])
def test_own_bits_sent_once_are_noticed(plant, module):
    plant(
        module,
        "own_bits",
        lambda honest, pmf, cut, p, q, _n=1, *error: honest(pmf, cut, p, q, 1, *error),
    )
    assert noticed("alone" if module is repeats else "repeated bits")


def test_the_wrong_direction_of_one_of_two_bins_is_noticed(plant):
    """Both bins rise: no pair of records does that."""
    plant(
        repeats, "product_divergence",
        lambda honest, one, other, grow: honest(one, other.swapped(), grow),
    )  # fmt: skip
    assert noticed("alone")


@pytest.mark.parametrize("keep", [0, 1], ids=["one way", "the other way"])
def test_one_direction_of_a_bit_alone_is_noticed(plant, keep):
    plant(single_bit, "larger", lambda _honest, *ends: ends[keep])
    assert noticed("among zeros") or noticed("repeated bits")


def test_a_crowd_of_blanks_is_noticed(plant):
    plant(
        blanket, "upper", lambda honest, pairs, n, k, _share, *_: honest(pairs, 0, n + k - 1, 0.0)
    )
    assert noticed("two-hot crowd")
    assert noticed("crowd")


@pytest.mark.parametrize("shape", ["u", "v", "others"])
def test_a_kind_of_message_with_a_wrong_chance_is_noticed(plant, shape):
    """A lower bound above the truth."""

    def wrong(honest, kinds, epsilon, copies):
        if shape == "others":
            kinds = [kind._replace(others=[]) for kind in kinds]
        else:
            value = {"u": 1.0, "v": 0.0}[shape]
            kinds = [kind._replace(**{shape: value}) for kind in kinds]
        return honest(kinds, epsilon, copies)

    plant(repeats, "lower_bound", wrong)
    assert noticed("lower")


def test_a_product_of_distributions_that_forgets_growth_is_noticed(plant):
    plant(repeats, "product_divergence", lambda honest, a, b, grow: honest(a, b, grow**1.01))
    assert noticed("alone")

"""A device draws the slots that it sends, whatever they contain, anew each time."""

import random
from collections import Counter

import pytest
from scipy.stats import chisquare

from helpers import contracts
from mixtally.device import client
from mixtally.device.client import draw
from mixtally.device.client.draw import RandomWords, draw_record
from mixtally.device.contract.part import read_part
from mixtally.errors import AccountingError, PlanError, RefusedError
from mixtally.model.contract import write_contract
from mixtally.model.question import Kind, Question, make_attributes_question

BINS, MOST, RUNS = 20, 4, 8_000
SETS = [(), (7,), (0, 19), (1, 2, 3, 18)]


def bare(slots=1, *, full=False, bins=BINS, most=MOST):
    part = contracts.sampled(bins, most, slots, whole=2, coin=0, full=full)
    return read_part(contracts.builtins_of(part), "part")


def words(seed):
    chance = random.Random(seed)
    return RandomWords(lambda count: chance.randbytes(8 * count))


def cells(part, members, source):
    return [int.from_bytes(one, "little") for one in draw_record(part, members, source)]


def evenly(slots):
    """False alarm: 10^-9 for each set; every choice of slots is as likely, with its order."""
    for place, members in enumerate(SETS):
        source, whole = words(place), [*members, *range(BINS, BINS + MOST - len(members))]
        seen = Counter(tuple(cells(bare(slots), members, source)) for _ in range(RUNS))
        every = MOST if slots == 1 else MOST * (MOST - 1)
        if not all(set(one) <= set(whole) for one in seen) or len(seen) > every:
            return False
        if chisquare([*seen.values(), *[0] * (every - len(seen))]).pvalue < 1e-9:
            return False
    return True


@pytest.mark.parametrize("slots", [1, 2])
def test_every_choice_of_slots_is_equally_likely_for_every_set(slots):
    assert evenly(slots)


def members_first(honest, cells, count, words):
    return cells[:count]


def last_pad_never(honest, cells, count, words):
    return honest(cells[:-1], count, words)


def pads_in_one_bin(honest, cells, count, words):
    return [min(one, BINS) for one in honest(cells, count, words)]


@pytest.mark.parametrize("wrong", [members_first, last_pad_never, pads_in_one_bin])
def test_the_twin_that_looks_at_the_value_is_caught(plant, wrong):
    plant(draw, "_draw_slots", wrong)
    assert not evenly(1)


def test_the_slot_is_drawn_anew_each_time():
    """False alarm: 4^-59."""
    source = words(5)
    assert len({tuple(cells(bare(), (1, 2, 3, 4), source)) for _ in range(60)}) > 1


def test_a_record_has_every_slot_once():
    full = bare(full=True)
    for members in ((1, 1, 2, 3), (1, 2, 3, 4, 5), (1, 2, 3)):
        with pytest.raises(AccountingError, match="expected 4 different bins"):
            draw_record(full, members, words(1))
    for members in ((1, 1), (1, 2, 3, 4, 5)):
        with pytest.raises(AccountingError, match="expected at most 4 different bins"):
            draw_record(bare(), members, words(1))


def plan_of(asked, part):
    return client.parse_contract(
        write_contract(contracts.contract_of(contracts.plan_of(asked, [part])))
    ).plan


def sent(plan, value, seed):
    chance = random.Random(seed)
    (found,) = client.messages(plan, value, lambda count: chance.randbytes(8 * count))
    return found


def test_bits_and_attributes_have_one_bin_for_every_value():
    free = Question(name="q", bins=3, kind=Kind.BITS)
    bits = plan_of(free, contracts.sampled(6, 3, 2, whole=1, coin=0, full=True))
    traits = make_attributes_question("q", (3, 2, 4))
    few = plan_of(traits, contracts.sampled(9, 3, 2, whole=1, coin=0, full=True))
    for plan, value, own in ((bits, [1, 0, 1], {1, 2, 5}), (few, [2, 0, 3], {2, 3, 8})):
        seen = set()
        for seed in range(40):
            messages = sent(plan, value, seed)
            assert len(messages) == plan.parts[0].most == plan.parts[0].least == 3
            named = {int.from_bytes(one, "little") for one in messages}
            assert len(named & own) >= 2
            seen |= named & own
        assert seen == own


def test_messages_are_as_many_for_every_set():
    asked = Question(name="q", bins=BINS, kind=Kind.SET, max_set=MOST)
    part = contracts.sampled(BINS, MOST, 2, whole=2, coin=0)
    plan = plan_of(asked, part)
    assert (plan.parts[0].least, plan.parts[0].most) == (part.least, part.most) == (4, 4)
    assert plan.parts[0].protocol == part.protocol == "clear-uniform"
    for value in (None, [], [3], [9, 8, 7, 6]):
        assert [len(message) for message in sent(plan, value, 3)] == [1] * 4
    for value, reason in (([3, 3], "member-twice"), ([1, 2, 3, 4, 5], "too-many-members")):
        with pytest.raises(RefusedError) as refused:
            sent(plan, value, 3)
        assert refused.value.reason == reason


SAMPLED = contracts.builtins_of(contracts.sampled(9, 3))
FULL = contracts.builtins_of(contracts.sampled(9, 3, full=True))


@pytest.mark.parametrize(
    ("part", "changes", "reason"),
    [
        (SAMPLED, {"slots": 0}, "slots-out-of-range"),
        (SAMPLED, {"slots": 3}, "slots-out-of-range"),
        (SAMPLED, {"slots": -1}, "slots-out-of-range"),
        (SAMPLED, {"most_set": 1, "slots": 1}, "slots-unfit"),
        (SAMPLED, {"most_set": None, "slots": 1}, "slots-unfit"),
        (SAMPLED, {"replaced": 5}, "slots-unfit"),
        (SAMPLED, {"planes": {"prime": 7, "digits": 4}}, "slots-unfit"),
        (SAMPLED, {"threshold": 1 << 40}, "slots-unfit"),
        (SAMPLED, {"repeats": 2}, "repeats-unfit"),
        (SAMPLED, {"own": None}, "clear-uncovered"),
        (SAMPLED, {"own": None, "recipe": {"type": "shaped", "ratio": 5, "shift": 5}},
         "slots-unfit"),
        (SAMPLED, {"own": None, "slots": 2, "recipe": {"type": "uniform", "count": 5}},
         "set-uncovered"),
        (SAMPLED, {"layout": {"form": "index", "bins": 10, "cap": None}}, "layout-bins"),
        (SAMPLED, {"layout": {"form": "index", "bins": 13, "cap": None}}, "layout-bins"),
        (SAMPLED, {"layout": {"form": "bits", "bins": 12, "cap": None}}, "clear-not-index"),
        (FULL, {"most_set": 5}, "slots-unfit"),
        (FULL, {"most_set": 10}, "most-set-out-of-range"),
    ],
)  # fmt: skip
def test_parts_without_a_proof_are_refused(part, changes, reason):
    with pytest.raises(RefusedError) as refused:
        read_part({**part, **changes}, "part")
    assert refused.value.reason == reason


@pytest.mark.parametrize(
    ("asked", "parts"),
    [
        (Question(name="q", bins=9), [contracts.sampled(9, 3)]),
        (Question(name="q", bins=9, kind=Kind.SET, max_set=2), [contracts.sampled(9, 3)]),
        (
            Question(name="q", bins=9, kind=Kind.SET, max_set=3),
            [contracts.sampled(9, 3, full=True)],
        ),
        (make_attributes_question("q", (3, 3, 3)), [contracts.sampled(9, 3)]),
        (make_attributes_question("q", (3, 3, 3)), [contracts.sampled(9, 2, full=True)]),
        (make_attributes_question("q", (3, 3, 3)), [contracts.sampled(9, 3, full=True)] * 2),
        (Question(name="q", bins=3, kind=Kind.BITS), [contracts.sampled(6, 3)]),
        (Question(name="q", bins=3, kind=Kind.BITS), [contracts.sampled(6, 2, full=True)]),
        (Question(name="q", bins=3, kind=Kind.BITS), [contracts.uniform(6, most_set=3)]),
        (Question(name="q", bins=3, kind=Kind.BITS), [contracts.flipped(6, most_set=3)]),
        (Question(name="q", bins=6, kind=Kind.SET, max_set=1), [contracts.sampled(6, 2)]),
    ],
)
def test_parts_of_another_question_are_refused(asked, parts):
    with pytest.raises(PlanError, match="parts"):
        contracts.plan_of(asked, parts)

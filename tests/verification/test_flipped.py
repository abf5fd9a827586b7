"""People's own flips, and flips among uniform fakes: the second proof beside all others."""

from contextlib import suppress
from fractions import Fraction
from math import comb

import pytest

from helpers.named import flip, flip_bits, flip_blank, flip_uniform, single_bit
from mixtally.accounting.verification import (
    blanket,
    derive,
    derive_parts,
    flipped,
    stream,
    verify_certificate,
)
from mixtally.accounting.verification.balls import arb, exact_ball, working_precision
from mixtally.errors import PlanError
from mixtally.model.contract import FakeRecord, NoRecipe, OwnFakes, Part
from mixtally.model.layout import Form, Layout
from oracle import exp_exactly, matrix_of, truth_of
from verification.written import SCALE, certified, plain, plan_of

EPSILONS = (0.3, 1.0)


@pytest.fixture(autouse=True)
def coarse_lattices(monkeypatch):
    """Fewer points, so that sums take hundredths of a second."""
    monkeypatch.setattr(blanket, "NODES", 1 << 15)


HALF = SCALE // 2


def part(bins, q, most=1, own=None, record=FakeRecord.BLANK, cap=None, repeats=1):
    """Flipped bits; ``own`` are (whole, coin) of every person's fakes."""
    return Part(
        bins=bins,
        most_set=most,
        threshold=int(q * SCALE),
        own=None if own is None else OwnFakes(record, *own),
        recipe=NoRecipe(),
        layout=Layout(Form.BITS, bins, cap=cap),
        repeats=repeats,
    )


def found(one, people, epsilon, *, count=True):
    return derive_parts(plain(plan_of(one, people=people, epsilon=epsilon, count_flips=count)))[0]


def by_blanks(bins, threshold, people, fakes, epsilon, most=1):
    """E[delta(K + B)] among blanks, B ~ Bin(n - 1, (q/p)^k), by enumeration."""
    share, total = Fraction(threshold, SCALE - threshold) ** most, Fraction(0)
    for free in range(people):
        chance = comb(people - 1, free) * share**free * (1 - share) ** (people - 1 - free)
        among = flip_blank(bins=bins, fakes=fakes + free, threshold=threshold, max_set=most)
        total += chance * truth_of(among, epsilon)
    return total


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("bins", "people", "whole"), [(2, 4, 0), (3, 3, 0), (2, 2, 1)])
def test_a_value_in_a_crowd_has_the_enumerated_blanket(bins, people, whole, epsilon):
    one = part(bins, Fraction(1, 4), own=(whole, 0) if whole else None)
    bracket, true = found(one, people, epsilon), by_blanks(
        bins, one.threshold, people, people * whole, epsilon
    )  # fmt: skip
    assert bracket.lower is None
    assert bracket.least <= true <= bracket.upper <= bracket.least * (1 + 3e-3)
    crowd = flip_blank(
        bins=bins, fakes=people * whole, threshold=one.threshold, crowd=people
    ) if whole else flip(bins=bins, threshold=one.threshold, crowd=people)  # fmt: skip
    assert truth_of(crowd, epsilon) <= bracket.upper


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_sets_of_two_in_a_crowd_have_the_enumerated_blanket(epsilon):
    one = part(4, Fraction(3, 8), most=2)
    bracket, true = found(one, 2, epsilon), by_blanks(4, one.threshold, 2, 0, epsilon, most=2)
    assert bracket.least <= true <= bracket.upper <= bracket.least * (1 + 3e-3)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("people", "whole"), [(2, 0), (5, 0), (3, 1), (2, 4)])
def test_a_bit_in_the_worst_crowd_is_the_enumerated_one(people, whole, epsilon):
    one = part(1, Fraction(3, 16), most=None, own=(whole, 0) if whole else None)
    bracket = found(one, people, epsilon)
    true = truth_of(
        single_bit(fakes=people * whole, threshold=one.threshold, crowd=people), epsilon
    )
    assert bracket.least == bracket.lower <= true <= bracket.upper <= bracket.lower * 1.01


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("bits", "people"), [(2, 3), (3, 2), (2, 5)])
def test_free_bits_have_the_blanket_of_uniform_strings(bits, people, epsilon):
    """(1/n) E[(V_1 + .. + V_n)_+] by every outcome; no crowd is above it."""
    one = part(bits, Fraction(1, 4), most=None)
    q, grow = Fraction(1, 4), exp_exactly(epsilon)
    atoms = {Fraction(0): 1 - (2 * q) ** bits}
    for a in range(bits + 1):
        value = 3**a - grow * 3 ** (bits - a)
        atoms[value] = atoms.get(value, 0) + comb(bits, a) * q**bits
    sums = {Fraction(0): Fraction(1)}
    for _ in range(people):
        more = {}
        for (s, p), (v, chance) in ((x, y) for x in sums.items() for y in atoms.items()):
            more[s + v] = more.get(s + v, 0) + p * chance
        sums = more
    true = sum(max(s, 0) * p for s, p in sums.items()) / people
    bracket = found(one, people, epsilon)
    assert bracket.least <= true <= bracket.upper <= bracket.least * (1 + 3e-2)
    crowd = flip_bits(bins=bits, threshold=one.threshold, crowd=people)
    assert truth_of(crowd, epsilon) <= bracket.upper


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("bins", "fakes"), [(2, 4), (3, 3), (3, 0)])
def test_a_value_among_uniform_fakes_is_the_enumerated_one(bins, fakes, epsilon):
    threshold = SCALE // 4
    with working_precision():
        lower, upper = flipped.value_among_values(
            fakes, bins, threshold, arb(epsilon).exp(), 60.0
        ).to_floats()
    true = truth_of(flip_uniform(bins=bins, fakes=fakes, threshold=threshold), epsilon)
    assert lower <= true <= upper <= lower * (1 + 3e-3)


def test_uniform_fakes_by_coins_are_averaged():
    one, people = part(2, Fraction(1, 4), own=(1, HALF), record=FakeRecord.UNIFORM), 3
    bracket = found(one, people, 1.0, count=False)
    true = sum(
        Fraction(comb(people, k), 8)
        * truth_of(flip_uniform(bins=2, fakes=people + k, threshold=one.threshold), 1.0)
        for k in range(people + 1)
    )
    assert bracket.lower <= true <= bracket.upper <= bracket.lower * 1.05


def test_uniform_fakes_in_a_crowd_are_bounded():
    one = part(2, Fraction(3, 8), own=(1, 0), record=FakeRecord.UNIFORM)
    bracket = found(one, 2, 0.3)
    mechanism = flip_uniform(bins=2, fakes=2, threshold=one.threshold, crowd=2)
    alone = flip_uniform(bins=2, fakes=2, threshold=one.threshold)
    assert truth_of(mechanism, 0.3) <= bracket.upper <= float(truth_of(alone, 0.3)) * (1 + 1e-3)
    assert bracket.lower is bracket.least is None


LARGE = {
    "a value": (part(40, 0.06), 1000, 1.0, True),
    "a value of two": (part(2, 0.2), 300, 0.5, True),
    "a capped value": (part(40, 0.05, cap=12), 1000, 1.0, True),
    "a value beside blanks": (part(40, 0.1, own=(1, 0)), 500, 1.0, True),
    "a value beside coins": (part(40, 0.15, own=(0, HALF)), 500, 1.0, True),
    "sets of two": (part(6, 0.2, most=2), 12, 2.5, True),
    "a bit": (part(1, 0.1, most=None), 1000, 0.5, True),
    "a bit beside zeros": (part(1, 0.1, most=None, own=(1, 0)), 300, 0.5, True),
    "free bits": (part(3, 0.2, most=None), 400, 1.0, True),
    "uniform fakes": (part(30, 0.1, own=(1, 0), record=FakeRecord.UNIFORM), 1000, 0.5, False),
    "uniform fakes in a crowd": (
        part(30, 0.1, own=(1, 0), record=FakeRecord.UNIFORM), 300, 0.5, True
    ),
}  # fmt: skip
SOME = ["a value", "a value beside coins", "a bit beside zeros", "free bits", "uniform fakes"]
TOLERANCE = 5e-3
"""By which a derived end may differ from the stated one: averages, cells and lattices."""


@pytest.mark.parametrize("name", LARGE)
def test_the_accountant_agrees(name):
    one, people, epsilon, count = LARGE[name]
    said = certified(plan_of(one, people=people, epsilon=epsilon, count_flips=count))
    bracket = found(one, people, epsilon, count=count)
    near = 0.012 if bracket.protocol == "single-bit" else TOLERANCE
    assert said.upper == pytest.approx(bracket.upper, rel=near)
    assert said.lower <= bracket.upper
    assert (bracket.least or 0.0) <= said.upper


def restated(name, share):
    """The plan whose certificate states this share of what the accountant proves."""
    one, people, epsilon, count = LARGE[name]
    given = {"people": people, "epsilon": epsilon, "count_flips": count}
    kept = plain(plan_of(one, certificate=certified(plan_of(one, **given)), **given))
    kept["certificate"]["upper"] *= share
    kept["certificate"]["lower"] = 0.0
    return kept


@pytest.mark.parametrize("name", SOME)
def test_a_certificate_is_derived_again_and_a_lowered_one_is_noticed(name):
    """Refused where the second proof has a lower end; else it is not said to be derived again."""
    assert verify_certificate(restated(name, 1.0)).whole
    with suppress(PlanError):
        assert not verify_certificate(restated(name, 0.98)).whole


def wrong_share(honest):
    return property(lambda self: honest.fget(self) * 2)


MISTAKES = {
    "twice the blanks of a crowd": (
        stream.Stream, "blank_share", wrong_share(stream.Stream.blank_share), "a value"
    ),
    "a fake more": (
        flipped, "blanket_bounds",
        lambda atoms, share, draws, nats, **more: blanket.blanket_bounds(
            atoms, share, draws + 9, nats, **more
        ),
        "uniform fakes",
    ),
    "a person more": (
        flipped, "blanket_bounds",
        lambda atoms, share, draws, nats, **more: blanket.blanket_bounds(
            atoms, share, draws + 9, nats, **more
        ),
        "free bits",
    ),
    "twice as many send uniform strings": (
        flipped, "blanket_bounds",
        lambda atoms, share, draws, nats, **more: blanket.blanket_bounds(
            atoms, 2 * share, draws, nats, **more
        ),
        "free bits",
    ),
    "zeros forgotten": (
        derive.TwoOutputs, "of_bit",
        classmethod(lambda cls, flip, people, _: cls(flip, 1 - flip, people - 1, 0)),
        "a bit beside zeros",
    ),
    "e^epsilon a hundredth larger": (
        derive, "_grow", lambda epsilon: arb(epsilon + 0.01).exp(), "free bits"
    ),
}  # fmt: skip


@pytest.mark.seconds
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_planted_mistake_in_the_second_proof_is_noticed(monkeypatch, mistake):
    where, what, wrong, name = MISTAKES[mistake]
    one, people, epsilon, count = LARGE[name]
    said = certified(plan_of(one, people=people, epsilon=epsilon, count_flips=count))
    monkeypatch.setattr(where, what, wrong)
    try:
        upper = found(one, people, epsilon, count=count).upper
    except Exception:  # stopped, which is noticed as well
        return
    assert upper != pytest.approx(said.upper, rel=0.012)


@pytest.mark.parametrize("draws", [1, 2, 7, 100])
def test_the_bounds_of_a_sum_hold_the_sum_of_two_values(draws):
    """V is 1 or -1 with chance 1/4 each: every outcome, on lattices however coarse."""
    atoms = [(arb(1), exact_ball(Fraction(1, 4))), (arb(-1), exact_ball(Fraction(1, 4)))]
    law = {0: Fraction(1)}
    for _ in range(draws):
        more = {}
        for s, p in law.items():
            for v, chance in ((1, Fraction(1, 4)), (-1, Fraction(1, 4)), (0, Fraction(1, 2))):
                more[s + v] = more.get(s + v, 0) + p * chance
        law = more
    true = sum(max(s, 0) * p for s, p in law.items()) / draws
    for nodes in (37, 1001, 20_011):
        with working_precision():
            ends = blanket.blanket_bounds(atoms, Fraction(1, 2), draws, 60.0, nodes=nodes)
            lower, upper = ends.to_floats()
        assert lower <= true <= upper
    assert upper <= true * (1 + 1e-3)


@pytest.mark.parametrize(
    ("one", "people"),
    [
        (part(5, 0.2, most=3), 100),
        (part(40, 0.4), 10**9),
        (part(1, 0.3, most=None), 10**9),
        (part(3, 0.3, most=None), 10**8),
        (part(40, 0.2, repeats=2), 100),
    ],
)
def test_what_is_not_derived_says_so(one, people):
    bracket = found(one, people, 0.1)
    assert bracket[1:4] == (None, None, None)
    assert "flips are counted on" in bracket.proved


def test_a_bit_beside_coins_is_bounded_as_if_none_showed():
    one, people = part(1, Fraction(1, 4), most=None, own=(1, HALF)), 3
    bracket, without = found(one, people, 1.0), found(
        part(1, Fraction(1, 4), most=None, own=(1, 0)), people, 1.0
    )  # fmt: skip
    assert bracket.lower is bracket.least is None
    assert bracket.upper == without.upper


def test_the_worst_pair_of_free_bits_differs_everywhere():
    """The bound of a pair that agrees in one bit, by enumeration of its draws, is not larger."""
    q, grow, bits, people = Fraction(1, 4), exp_exactly(0.5), 2, 3

    def bound(v):
        rows = matrix_of(flip_bits(bins=bits, threshold=SCALE // 4, crowd=2)).matrix
        atoms = [((a - grow * b) / q**bits, q**bits) for a, b in zip(rows[0], rows[v], strict=True)]
        sums = {Fraction(0): Fraction(1)}
        for _ in range(people):
            more = {}
            for s, p in sums.items():
                for value, chance in (*atoms, (Fraction(0), 1 - (2 * q) ** bits)):
                    more[s + value] = more.get(s + value, 0) + p * chance
            sums = more
        return sum(max(s, 0) * p for s, p in sums.items()) / people

    assert bound(0b01) == bound(0b10) < bound(0b11)

"""The certificate of every mechanism against every outcome of small collections, counted exactly.

The distributions are held to the enumeration elsewhere; here it is what a certificate asks of them:
how many fakes, people, bits and repeats there are, read from a protocol's own integers. One more or
fewer of any of them must not pass.
"""

import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from accounting import brute
from accounting.brute_distributions import UNIFORM, Scene, at_most, free, one_hot, scenes
from accounting.comparisons import Comparison
from helpers.named import (
    clear_shaped,
    clear_uniform,
    flip,
    flip_bits,
    flip_blank,
    flip_uniform,
    single_bit,
)
from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.numerics.bracket import Bracket
from mixtally.errors import AccountingError
from mixtally.model.mechanism import BitFlips, Parameter, Shuffled
from mixtally.primitives.fixed_point import SCALE

THRESHOLDS = (26 << 57, 58 << 57, 61 << 57)
EPSILONS = (0.02, 0.1, 1.0)
HALF = SCALE // 2


class Pin(NamedTuple):
    """A mechanism whose flip probability is still to be set, and all that it must hide.

    where
      exact     whether the certificate is the divergence itself, not bounds of it
      counts    the integers on which the promise rests
    """

    mechanism: Shuffled
    scenes: list[Scene]
    exact: bool
    counts: tuple[str, ...]

    def holds(self, taken_for: Callable[[Shuffled], Shuffled] = lambda own: own) -> bool:
        """Whether every certificate has the worst divergence of the scenes between its ends.

        That of the mechanism itself, or of the one that it is taken for.
        """
        own = self.mechanism
        return not any(
            Comparison(
                own.name,
                lambda t, e: ends(taken_for(replace(own, threshold=t)), e),
                tuple(self.scenes),
                bits=own.bins,
                repeats=own.repeats,
                exact=self.exact,
                thresholds=THRESHOLDS,
                epsilons=EPSILONS,
            ).faults()
        )


def ends(mechanism: Shuffled, epsilon: float) -> Bracket:
    shown = Accountant().certificate(Record.of(mechanism), epsilon)
    return Bracket(shown.lower, shown.upper)


def blank(**integers: int) -> BitFlips:
    return flip_blank(**{"bins": 3, "fakes": 0, "threshold": HALF, **integers})


PINS = {
    "one-hot": Pin(blank(fakes=3), scenes(3, one_hot(3), 0, (0,) * 3), True, ("fakes",)),
    "two-hot": Pin(
        blank(bins=4, fakes=2, max_set=2),
        scenes(4, at_most(4, 2), 0, (0,) * 2), True, ("fakes", "max_set"),
    ),
    "three-hot": Pin(
        blank(bins=4, fakes=1, max_set=3), scenes(4, at_most(4, 3), 0, (0,)), True,
        ("fakes", "max_set"),
    ),
    "crowd": Pin(blank(crowd=3), scenes(3, one_hot(3), 2), False, ("crowd",)),
    "flips alone": Pin(
        flip(bins=3, threshold=HALF, crowd=3), scenes(3, one_hot(3), 2), False, ("crowd",)
    ),
    "crowd and fakes": Pin(
        blank(fakes=1, crowd=3), scenes(3, one_hot(3), 2, (0,)), False, ("crowd", "fakes")
    ),
    "two-hot crowd": Pin(
        blank(bins=4, crowd=2, max_set=2), scenes(4, at_most(4, 2), 1), False, ("crowd", "max_set")
    ),
    "uniform": Pin(
        flip_uniform(bins=3, fakes=3, threshold=HALF),
        scenes(3, one_hot(3), 0, (UNIFORM,) * 3), True, ("fakes",),
    ),
    "uniform crowd": Pin(
        flip_uniform(bins=3, fakes=2, threshold=HALF, crowd=2),
        scenes(3, one_hot(3), 1, (UNIFORM,) * 2), False, ("crowd", "fakes"),
    ),
    "vectors": Pin(
        flip_bits(bins=2, threshold=HALF, crowd=3),
        scenes(2, free(2), 2, vectors=True), False, ("crowd",),
    ),
    "vectors twice": Pin(
        flip_bits(bins=2, threshold=HALF, crowd=2, repeats=2),
        scenes(2, free(2), 1, vectors=True), False, ("crowd", "repeats"),
    ),
    "bit": Pin(
        single_bit(fakes=1, threshold=HALF, crowd=3),
        scenes(1, free(1), 2, (0,)), False, ("crowd", "fakes"),
    ),
}  # fmt: skip
SHAPED = clear_shaped(bins=3, ratio=SCALE // 20, shift=2)
CLEAR: dict[str, tuple[Shuffled, Callable[[float], Fraction], list[Shuffled]]] = {
    "clear-uniform": (
        clear_uniform(bins=3, fakes=4),
        lambda epsilon: brute.clear_uniform_delta(3, 4, epsilon),
        [clear_uniform(bins=3, fakes=5), clear_uniform(bins=2, fakes=4)],
    ),
    "clear-shaped": (
        SHAPED,
        lambda epsilon: brute.clear_shaped_delta(3, SHAPED.fakes.shape.weights, epsilon),
        [
            clear_shaped(bins=3, ratio=SCALE // 20, shift=3),
            clear_shaped(bins=3, ratio=SCALE // 20 + (SCALE >> 8), shift=2),
        ],
    ),
}
"""The mechanism, its enumerated divergence, and others for which it must not be taken."""


def test_some_file_enumerates_every_protocol(protocol):
    """A mechanism that is added brings such a file, and no list knows of it."""
    name = re.compile(rf"\b{protocol.replace('-', '[-_]')}\b")
    texts = (path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    enumerating = [text for text in texts if "brute" in text or "enumerated" in text]
    assert any(name.search(text) for text in enumerating)


@pytest.mark.seconds
@pytest.mark.parametrize("name", PINS)
def test_a_certificate_holds_what_is_enumerated(name):
    assert PINS[name].holds()


@pytest.mark.parametrize("name", CLEAR)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_certificate_in_clear_is_what_is_enumerated(name, epsilon):
    mechanism, truth, _ = CLEAR[name]
    assert brute.brackets(ends(mechanism, epsilon), truth(epsilon))


def noticed(pin: Pin, taken_for: Callable[[Shuffled], Shuffled]) -> bool:
    """Whether the certificate of another mechanism does not hold, or stops the work."""
    try:
        return not pin.holds(taken_for)
    except AccountingError:
        return True


@pytest.mark.parametrize(
    ("name", "count"), [(name, count) for name, pin in PINS.items() for count in pin.counts]
)
def test_a_count_that_promises_too_much_is_noticed(name, count):
    """One fake or person more than there are, or one set bit or repeat fewer."""
    more = -1 if count in ("max_set", "repeats") else 1

    def changed(mechanism):
        if count == "fakes":
            return mechanism.with_parameter(Parameter.FAKES, mechanism.fakes.count + more)
        return replace(mechanism, **{count: getattr(mechanism, count) + more})

    assert noticed(PINS[name], changed)


@pytest.mark.parametrize("name", ["crowd", "two-hot crowd", "uniform crowd", "vectors", "bit"])
def test_half_as_many_people_again_are_noticed(name):
    def crowded(mechanism):
        return replace(mechanism, crowd=-(-3 * mechanism.crowd // 2))

    assert noticed(PINS[name], crowded)


@pytest.mark.parametrize(
    ("name", "other"), [(name, other) for name, (*_, others) in CLEAR.items() for other in others]
)
def test_another_protocol_in_clear_is_noticed(name, other):
    _, truth, _ = CLEAR[name]
    assert not all(brute.brackets(ends(other, epsilon), truth(epsilon)) for epsilon in EPSILONS)

"""Sound collections of every protocol and kind of question, each at two sizes, and games."""

import dataclasses

from msgspec.structs import replace

from helpers import least
from helpers.contracts import PAIRED_RATIO
from helpers.named import (
    clear_paired,
    clear_shaped,
    clear_uniform,
    flip_bits,
    flip_blank,
    flip_uniform,
    kary_response,
    single_bit,
)
from mixtally.lab.attacks.claim import part_of, target_of_mechanism
from mixtally.lab.attacks.flipped_game import FlippedGame
from mixtally.lab.attacks.games import game_of
from mixtally.lab.attacks.senders import Senders
from mixtally.lab.attacks.uniform_flips import UniformFlipsGame
from mixtally.model.contract import Part
from mixtally.model.layout import Form, Layout
from mixtally.model.mechanism import Shuffled
from mixtally.primitives.fixed_point import threshold_of

_SHAPE, _THIRD = least.shape(1.0, 1e-3), least.shape(1.0 / 3.0, 3e-4)
_EVERY = {
    "flip-blank": (flip_blank, {"bins": 12}, {"fakes": (2000, 250), "flip": (0.02, 0.04)}),
    "flip-blank, crowd": (
        flip_blank, {"bins": 12, "fakes": 0}, {"crowd": (2000, 250), "flip": (0.1, 0.2)},
    ),
    "flip-blank, two bins": (flip_blank, {"bins": 2}, {"fakes": (2000, 250), "flip": (0.02, 0.04)}),
    "flip-blank, sets": (
        flip_blank, {"bins": 9, "max_set": 3}, {"fakes": (2000, 250), "flip": (0.15, 0.2)},
    ),
    "flip-uniform": (flip_uniform, {"bins": 40}, {"fakes": (900, 110), "flip": (0.02, 0.04)}),
    "clear-uniform": (clear_uniform, {}, {"bins": (20, 5), "fakes": (900, 110)}),
    "kary-response": (
        kary_response, {"bins": 6}, {"crowd": (900, 110), "replaced": (1 << 62, 1 << 63)},
    ),
    "clear-shaped": (clear_shaped, {"bins": 30, **_SHAPE}, {}),
    "clear-shaped, two mixes": (clear_shaped, {"bins": 30, **_SHAPE, "mixes": 2}, {}),
    "clear-shaped, paired": (clear_paired, {"ratio": PAIRED_RATIO, "shift": 9, "mixes": 2}, {}),
    "clear-shaped, sets": (clear_shaped, {"bins": 12, "max_set": 3, **_THIRD}, {}),
    "single-bit": (single_bit, {}, {"fakes": (500, 60), "flip": (0.03, 0.08), "crowd": (500, 60)}),
    "flip": (flip_bits, {"bins": 4}, {"flip": (0.25, 0.3), "crowd": (2000, 250)}),
    "flip, repeats": (
        flip_bits, {"bins": 3, "repeats": 2}, {"flip": (0.3, 0.36), "crowd": (500, 60)},
    ),
}  # fmt: skip
"""What makes it, what both sizes share, and what differs."""


def _made(size: int) -> dict[str, Shuffled]:
    found = {}
    for name, (make, shared, differing) in _EVERY.items():
        parts = {key: pair[size] for key, pair in differing.items()}
        if "flip" in parts:
            parts["threshold"] = threshold_of(parts.pop("flip"))
        found[name] = make(**shared, **parts)
    return found


SOUND = _made(0)
"""Each keeps (1, 0.03) or better."""
SMALL = _made(1)
"""Few messages under strong flips: a hundred runs cost what thirteen of larger collections do."""
RARE = flip_blank(bins=40, fakes=10**5, threshold=threshold_of(4e-4))
"""Flips that are skipped to."""


def part(mechanism: Shuffled, form: Form | None = None) -> Part:
    """What sends it, perhaps as positions without a cap to speak of."""
    made = part_of(mechanism)
    layout = made.layout if form is None else Layout(form, made.bins, made.bins)
    return replace(made, layout=layout)


def target(mechanism, users=1000, epsilon=1.0, delta=1e-6, **changes):
    """A claim of whatever it is, or with ``changes`` of it."""
    return dataclasses.replace(
        target_of_mechanism(mechanism, users, epsilon, delta, "a test"), **changes
    )


def game(mechanism, people, fakes_sent, epsilon=1.0, mixes=1):
    """The worst game known among so many others and fakes."""
    return game_of(Senders(part(mechanism), people, fakes_sent, mixes), epsilon)


def flipped(q, x, u, v, people, fakes_sent, times=1):
    """A game among people who hold x and flipped blanks."""
    bins, threshold = len(x), threshold_of(q)
    sent = flip_bits(bins=bins, threshold=threshold, crowd=people + 2, repeats=times)
    if fakes_sent:
        sent = flip_blank(bins=bins, fakes=fakes_sent, threshold=threshold, max_set=bins)
    return FlippedGame(Senders(part(sent), people, fakes_sent), x, u, v)


def uniformly(q, bins, people, fakes_sent):
    """A game among flipped uniform fakes."""
    mechanism = flip_uniform(bins=bins, fakes=fakes_sent, threshold=threshold_of(q))
    return UniformFlipsGame(Senders(part(mechanism), people, fakes_sent))

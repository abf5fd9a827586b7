"""Constructors of mechanisms under the names of their protocols."""

from mixtally.model.mechanism.bit_flips import BitFlips
from mixtally.model.mechanism.fakes import BlankFakes, NoFakes, UniformFakes
from mixtally.model.mechanism.in_clear import InClear


def flip_blank(
    *, bins: int, fakes: int, threshold: int, crowd: int = 0, max_set: int = 1, repeats: int = 1
) -> BitFlips:
    """Return flips of a value, or of a set of at most ``max_set``, with flipped blank fakes."""
    return BitFlips(
        bins=bins,
        threshold=threshold,
        fakes=BlankFakes(fakes),
        crowd=crowd,
        max_set=max_set,
        repeats=repeats,
    )


def single_bit(*, fakes: int, threshold: int, crowd: int, repeats: int = 1) -> BitFlips:
    """Return flips of one bit, with flipped zeros as fakes and the flips of the crowd."""
    hiding = BlankFakes(fakes) if fakes else NoFakes()
    return BitFlips(
        bins=1, threshold=threshold, fakes=hiding, crowd=crowd, max_set=None, repeats=repeats
    )


def flip_bits(*, bins: int, threshold: int, crowd: int, repeats: int = 1) -> BitFlips:
    """Return flips of free bits, protected by other people's flips."""
    return BitFlips(
        bins=bins, threshold=threshold, fakes=NoFakes(), crowd=crowd, max_set=None, repeats=repeats
    )


def flip(*, bins: int, threshold: int, crowd: int, max_set: int = 1, repeats: int = 1) -> BitFlips:
    """Return flips of a value or a set, protected by other people's flips."""
    return BitFlips(
        bins=bins,
        threshold=threshold,
        fakes=NoFakes(),
        crowd=crowd,
        max_set=max_set,
        repeats=repeats,
    )


def clear_uniform(*, bins: int, fakes: int, max_set: int = 1, repeats: int = 1) -> InClear:
    """Return a value or a set of at most ``max_set`` in clear, with uniform fakes."""
    return InClear(bins=bins, fakes=UniformFakes(fakes), max_set=max_set, repeats=repeats)

"""Constructors of mechanisms under the names of their protocols."""

from mixtally.model.mechanism.bit_flips import BitFlips
from mixtally.model.mechanism.fakes import BlankFakes, NoFakes, UniformFakes
from mixtally.model.mechanism.in_clear import InClear


def flip_blank(
    *, bins: int, fakes: int, threshold: int, crowd: int = 0, max_set: int = 1, repeats: int = 1
) -> BitFlips:
    """Return the mechanism that flips the bits of a value or a set, protected by blank fakes.

    A blank fake is a dummy message with no bit set before its bits are flipped.

    Parameters
    ----------
    bins : int
        The number of bins.
    fakes : int
        The number of blank fakes in the whole collection.
    threshold : int
        The flip probability times 2^64.
    crowd : int
        The number of honest people on whose flips the proof relies; 0 for none.
    max_set : int
        The maximum number of bins in a record.
    repeats : int
        How often each record is sent.
    """
    return BitFlips(
        bins=bins,
        threshold=threshold,
        fakes=BlankFakes(fakes),
        crowd=crowd,
        max_set=max_set,
        repeats=repeats,
    )


def single_bit(*, fakes: int, threshold: int, crowd: int, repeats: int = 1) -> BitFlips:
    """Return the mechanism that flips one bit, protected by blank fakes and other people's flips.

    Parameters
    ----------
    fakes : int
        The number of blank fakes, which are flipped zeros, in the whole collection.
    threshold : int
        The flip probability times 2^64.
    crowd : int
        The number of honest people on whose flips the proof relies; 0 for none.
    repeats : int
        How often each record is sent.
    """
    hiding = BlankFakes(fakes) if fakes else NoFakes()
    return BitFlips(
        bins=1, threshold=threshold, fakes=hiding, crowd=crowd, max_set=None, repeats=repeats
    )


def flip_bits(*, bins: int, threshold: int, crowd: int, repeats: int = 1) -> BitFlips:
    """Return the mechanism that flips free bits, which other people's flips protect.

    Free bits are bits of which a record may set any number.

    Parameters
    ----------
    bins : int
        The number of bits.
    threshold : int
        The flip probability times 2^64.
    crowd : int
        The number of honest people on whose flips the proof relies.
    repeats : int
        How often each record is sent.
    """
    return BitFlips(
        bins=bins, threshold=threshold, fakes=NoFakes(), crowd=crowd, max_set=None, repeats=repeats
    )


def flip(*, bins: int, threshold: int, crowd: int, max_set: int = 1, repeats: int = 1) -> BitFlips:
    """Return the mechanism that flips a value or a set, which other people's flips protect.

    Parameters
    ----------
    bins : int
        The number of bins.
    threshold : int
        The flip probability times 2^64.
    crowd : int
        The number of honest people on whose flips the proof relies.
    max_set : int
        The maximum number of bins in a record.
    repeats : int
        How often each record is sent.
    """
    return BitFlips(
        bins=bins,
        threshold=threshold,
        fakes=NoFakes(),
        crowd=crowd,
        max_set=max_set,
        repeats=repeats,
    )


def clear_uniform(*, bins: int, fakes: int, max_set: int = 1, repeats: int = 1) -> InClear:
    """Return the mechanism that sends a value or a set in clear, among uniform fakes.

    Parameters
    ----------
    bins : int
        The number of bins.
    fakes : int
        The number of fakes in the whole collection.
    max_set : int
        The maximum number of bins in a record.
    repeats : int
        How often each record is sent.
    """
    return InClear(bins=bins, fakes=UniformFakes(fakes), max_set=max_set, repeats=repeats)

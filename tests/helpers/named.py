"""Every protocol by name: those of the product, and those that tests alone make so."""

from mixtally.model.mechanism import BitFlips, InClear, KaryResponse, ShapedFakes, UniformFakes
from mixtally.model.mechanism.presets import clear_uniform, flip, flip_bits, flip_blank, single_bit
from mixtally.model.shape import GaussianShape, LaplaceShape, PairedLaplaceShape

__all__ = [
    "clear_gaussian",
    "clear_paired",
    "clear_shaped",
    "clear_uniform",
    "flip",
    "flip_bits",
    "flip_blank",
    "flip_uniform",
    "kary_response",
    "single_bit",
]


def flip_uniform(*, bins, fakes, threshold, crowd=0, repeats=1):
    """Flips of a value among flipped records of random bins."""
    return BitFlips(
        bins=bins, threshold=threshold, fakes=UniformFakes(fakes), crowd=crowd, repeats=repeats
    )


def clear_shaped(*, bins, ratio, shift, mixes=1, max_set=1, repeats=1):
    """A value in clear, or a set of at most ``max_set``, among fakes whose numbers mixes draw."""
    fakes = ShapedFakes(LaplaceShape(ratio, shift), mixes)
    return InClear(bins=bins, fakes=fakes, max_set=max_set, repeats=repeats)


def clear_paired(*, ratio, shift, mixes=1, repeats=1):
    """One of two bins in clear, among fakes of mixes that always add up to twice the shift."""
    fakes = ShapedFakes(PairedLaplaceShape(ratio, shift), mixes)
    return InClear(bins=2, fakes=fakes, repeats=repeats)


def clear_gaussian(*, bins, variance, shift, mixes=1, max_set=1, repeats=1):
    """The same with numbers of a discrete Gaussian distribution."""
    shape = GaussianShape(variance, shift)
    return InClear(bins=bins, fakes=ShapedFakes(shape, mixes), max_set=max_set, repeats=repeats)


def kary_response(*, bins, replaced, crowd, fakes=0, repeats=1):
    """A value that a uniform bin may take the place of, among such others and uniform fakes."""
    return KaryResponse(
        bins=bins, replaced=replaced, fakes=UniformFakes(fakes), crowd=crowd, repeats=repeats
    )

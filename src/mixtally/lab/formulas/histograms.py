"""The privacy ratio of a histogram of all vectors (Sufficient DP 000, 2017).

``literature`` uses these formulas. A vector of L bits is read as an integer below 2^L, so a
histogram is a sequence of 2^L counts.

Source: sufficient DP 000; equation numbers at each function.
"""

from collections.abc import Sequence

from mixtally.lab.formulas.parameter_ranges import check_flip


def transition_probability(value: int, seen: int, bits: int, flip: float) -> float:
    """Return the probability p^m q^(L - m) that ``value`` is sent as ``seen``, with m equal bits.

    Source: sufficient DP 000 section 1.3, K-randomization 003 section 2.
    """
    check_flip(flip)
    distance = (value ^ seen).bit_count()
    return (1.0 - flip) ** (bits - distance) * flip**distance


def homogeneous_ratio(counts: Sequence[int], crowd: int, bits: int, flip: float) -> float:
    """Return the likelihood ratio of ``counts`` with one vector of ones, against one of zeros.

    All other vectors equal ``crowd``.

    Source: sufficient DP 000 (2.4); with a crowd of zeros (3.1).
    """
    ones = (1 << bits) - 1
    above = below = 0.0
    for seen, count in enumerate(counts):
        hidden = count / transition_probability(crowd, seen, bits, flip)
        above += hidden * transition_probability(ones, seen, bits, flip)
        below += hidden * transition_probability(0, seen, bits, flip)
    return above / below


def ratio_by_set_bits(counts: Sequence[int], flip: float) -> float:
    """Return ``homogeneous_ratio`` in a crowd whose vectors are all zero.

    ``counts[k]`` is the number of vectors with k set bits, for k from 0 to their length.

    Source: sufficient DP 000 (3.4).
    """
    check_flip(flip)
    bits, odds = len(counts) - 1, flip / (1.0 - flip)
    sums = (count * odds ** (bits - 2 * set_bits) for set_bits, count in enumerate(counts))
    return sum(sums) / sum(counts)

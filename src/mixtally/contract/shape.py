"""The shape of a mix's fakes: a truncated discrete Laplace distribution, in integers over 2^64."""

SCALE_BITS = 64
_GUARD_BITS = 256


def shape_weights(ratio: int, shift: int) -> tuple[int, ...]:
    """P[k] times 2^64 for k = 0..2 * ``shift``: integers that sum to 2^64, by integers alone.

    P[k] falls as (ratio / 2^64)^|k - shift|. Rounded down everywhere but at the peak, which takes
    what is left: symmetric.
    """
    powers = [1 << _GUARD_BITS]
    for _ in range(shift):
        powers.append(powers[-1] * ratio >> SCALE_BITS)
    total = powers[0] + 2 * sum(powers[1:])
    side = [(power << SCALE_BITS) // total for power in powers[1:]]
    peak = (1 << SCALE_BITS) - 2 * sum(side)
    return (*reversed(side), peak, *side)

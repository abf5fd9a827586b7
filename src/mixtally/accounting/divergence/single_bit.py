"""The divergence of a single flipped bit among fake zeros and the flipped bits of the crowd.

``bit_flips`` and ``one_hot`` use this file. Every bit is flipped with probability q, and p = 1 - q.
With m ones and z zeros in the background, the observed sum is Bin(m, p) + Bin(z, q) plus the
person's bit. The observers ``messages`` and ``sums`` see the same. This is the message of two
outputs (``two_outputs``) with the probabilities q and p. Fakes alone protect in every dataset. If
the crowd counts, the worst number of ones is searched for and proved.

Source: notes 004 section 4 and Prop. 3.1.
"""

from collections.abc import Sequence

from mixtally.accounting.divergence import two_outputs
from mixtally.accounting.divergence.two_outputs import TwoOutputMessage
from mixtally.accounting.numerics.binomial_pairs import flip_chances
from mixtally.accounting.numerics.bracket import Bracket
from mixtally.primitives.memo import Memo

_MOST_BYTES = 64_000_000
SOURCE = (
    "exact distribution of the sum of flipped bits (Notes 2020, section 4); Prop. 3.1 for any "
    "dataset"
)


def delta(
    users: int,
    fakes: int,
    threshold: int,
    epsilon: float,
    ones: int | None = None,
    *,
    count_crowd: bool = False,
    repeats: int = 1,
    memo: Memo | None = None,
    lower_only: bool = False,
) -> Bracket:
    """Return bounds of delta(epsilon) for one bit.

    Parameters
    ----------
    users : int
        The number of honest people, the person included.
    fakes : int
        The number of flipped zeros that certainly arrive.
    threshold : int
        The flip probability times 2^64.
    epsilon : float
        Privacy loss in nats, at least 0.
    ones : int, optional
        Number of other people who hold a one; None for the worst number.
    count_crowd : bool
        Whether the flips of other people count; otherwise only fakes hide.
    repeats : int
        Number of times that every record is sent, randomized anew each time.
    memo : Memo, optional
        Keeps intermediate results for later calls.
    lower_only : bool
        Whether only the lower end is needed. Where the worst crowd would have to be searched for,
        the upper end may then be 1.
    """
    memo, bit, others = (
        memo or Memo(_MOST_BYTES),
        flipped_bit_message(threshold, repeats),
        users - 1,
    )
    if ones is not None:
        return two_outputs.delta_in_known_crowd(bit, ones, others - ones + fakes, epsilon, memo)
    if not count_crowd:
        return two_outputs.delta_in_known_crowd(bit, 0, fakes, epsilon, memo)
    return two_outputs.delta(bit, others, fakes, epsilon, memo, lower_only=lower_only)


def delta_at_several(
    users: int,
    fakes: int,
    threshold: int,
    epsilons: Sequence[float],
    *,
    repeats: int = 1,
    memo: Memo | None = None,
) -> list[Bracket]:
    """Return ``delta`` of the worst crowd at several epsilons; the proofs share distributions."""
    return two_outputs.delta_at_several(
        flipped_bit_message(threshold, repeats), users - 1, fakes, epsilons, memo
    )


def expected_upper(
    users: int,
    fakes: int,
    threshold: int,
    epsilon: float,
    *,
    repeats: int = 1,
    memo: Memo | None = None,
) -> float:
    """Return the bound that ``delta`` probably proves, for searches that prove their result."""
    bit = flipped_bit_message(threshold, repeats)
    return two_outputs.expected_upper(bit, users - 1, fakes, epsilon, memo)


def flipped_bit_message(threshold: int, repeats: int = 1) -> TwoOutputMessage:
    """Return the message of one bit that is flipped with probability ``threshold`` / 2^64."""
    return TwoOutputMessage(flip_chances(threshold), repeats)

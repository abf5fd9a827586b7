"""The exact delta that results from the noise of a published formula, for each observer.

``audit`` uses the table ``EXACT_DELTAS``.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mixtally.accounting.divergence import clear_uniform, flip_blank, one_hot, single_bit, vectors
from mixtally.accounting.numerics.binomial_pairs import Pair, divergence
from mixtally.accounting.numerics.bracket import Bracket
from mixtally.lab.formulas.exact_fakes_per_bin import NOISES
from mixtally.primitives import tails
from mixtally.primitives.fixed_point import SCALE, threshold_of

_AT_THE_LOCAL_EPSILON = -1e-14
"""The relative amount by which the largest log-likelihood ratio is lowered before a comparison.

A flip probability that was computed for epsilon is rounded, so its ratio can exceed epsilon by a
rounding error.
"""


@dataclass(frozen=True, slots=True)
class FormulaSetting:
    """The collection for which a formula is evaluated.

    Parameters that the formula does not need have their default values.
    """

    epsilon: float
    users: int = 0
    fakes: int = 0
    bins: int = 0
    bits: int = 0
    repeats: int = 1


ExactDelta = Callable[[FormulaSetting, float], Bracket]
"""A function of a setting and its noise that returns delta(epsilon).

The noise is a flip probability, or a parameter of the distribution of the fakes.
"""


def threshold(flip: float) -> int:
    """Return the flip probability times 2^64, for ``flip`` or, above one half, for 1 - ``flip``.

    Exchanging zeros and ones in all messages reveals the same, so both have the same delta.
    """
    return threshold_of(min(flip, 1.0 - flip))


def _single_bit(setting: FormulaSetting, flip: float) -> Bracket:
    return single_bit.delta(
        setting.users,
        setting.fakes,
        threshold(flip),
        setting.epsilon,
        count_crowd=True,
        repeats=setting.repeats,
    )


def _flip_blank(setting: FormulaSetting, flip: float) -> Bracket:
    """Return delta of a one-hot record among blanks.

    Without blanks, this is the delta of a ballot that the observer sees with its sender.
    """
    return flip_blank.delta(setting.fakes, threshold(flip), setting.epsilon)


def _vectors(setting: FormulaSetting, flip: float) -> Bracket:
    t = threshold(flip)
    least = vectors.homogeneous_delta(setting.users, setting.bits, t, setting.epsilon)
    every = vectors.any_dataset_delta(setting.users, setting.bits, t, setting.epsilon)
    # A lower bound for equal vectors is also one for arbitrary datasets.
    return Bracket(min(max(least.lower, every.lower), every.upper), every.upper)


def _one_vector(setting: FormulaSetting, flip: float) -> Bracket:
    """Return delta of one vector of L bits that the observer sees with its sender.

    With flip probability q, p = 1 - q and [x]_+ = max(0, x), delta is the sum over t of
    C(L, t) [p^t q^(L-t) - e^eps q^t p^(L-t)]_+.
    """
    t = threshold(flip)
    q, p = t / SCALE, (SCALE - t) / SCALE
    if setting.epsilon >= setting.bits * math.log(p / q) * (1.0 + _AT_THE_LOCAL_EPSILON):
        return Bracket(0.0, 0.0)  # No likelihood ratio exceeds e^epsilon.
    pmf = tails.pmf(setting.bits, p, 0, setting.bits)
    return divergence(Pair(pmf, pmf[::-1], 0.0), math.exp(setting.epsilon))


def _delta_of_family(protocol: str) -> ExactDelta:
    noise = NOISES[protocol]

    def delta(at: FormulaSetting, asked: float) -> Bracket:
        found = noise.counts(at.epsilon, at.users, asked)
        return Bracket(0.0, 1.0) if found is None else noise.delta(found, at.epsilon)

    return delta


EXACT_DELTAS: Mapping[str, Mapping[str, ExactDelta]] = {
    "single bit": {"messages": _single_bit},
    "repeated bit": {"messages": _single_bit},
    "flip": {
        "messages": lambda at, flip: one_hot.messages_delta(
            at.users, at.fakes, threshold(flip), at.epsilon
        ),
        "sums": lambda at, flip: one_hot.sums_delta(
            at.users, at.fakes, threshold(flip), at.epsilon
        ),
    },
    "flip-blank": {"messages": _flip_blank},
    "clear-uniform": {
        "messages": lambda at, fakes: clear_uniform.delta(math.ceil(fakes), at.bins, at.epsilon)
    },
    "vectors": {"messages": _vectors},
    "one-hot, no mix": {"local": _flip_blank},
    "vectors, no mix": {"local": _one_vector},
    **{protocol: {"messages": _delta_of_family(protocol)} for protocol in NOISES},
}
"""The functions that compute delta, by protocol and observer. For ``flip-blank``, only fakes hide a
person."""

"""The divergence of k-ary randomized response, with or without uniform fakes.

A person holds u or v out of d bins and sends a uniform bin instead with probability g. All n people
do the same, and there are m uniform fakes.

*Upper bound.* Let the observer also see every value of the others that was *not* replaced, and
remove these. B uniform messages remain,

    B ~ Bin(n-1, g) + m,    N = B + 1,

where B is visible and independent of u and v. Relative to a uniform message, the person's own
message y has the weight w_u = g + (1-g) d 1[y = u]. By the identity of
``docs/explanation/accounting.md``,

    delta <= E[psi(N)],    psi(N) = (1/N) E[(W_1 + .. + W_N)_+],    W = w_u(y) - e^eps w_v(y),

with y uniform. Equivalently, psi(N) = (1/N) E[((1-g) d (A - e^eps A') - (e^eps - 1) g N)_+], where
A and A' are two cells of a multinomial(N; 1/d, ..). The likelihood ratio is (A + c) / (A' + c) with
c = g N / ((1-g) d). So the person's own replacement is worth c messages in either cell. Exchanging
the two cells shows that both orders have the same divergence. The bound falls with m. It also falls
with g, because a replaced value that is replaced again is still uniform. At g = 0 the mechanism is
clear-uniform, and with n = 1 and m = 0 it is local randomized response. ``blanket`` computes
E[psi(N)] to a part in a thousand.

*Lower bound.* For d >= 3 let all others hold a third value, and count only two cells. T' = A + A'
is the number of messages of others and of fakes in these cells, so T' ~ Bin(n-1, 2g/d) + Bin(m,
2/d); write r(T') for its probabilities. Each such message is in either cell with probability 1/2.
Given the total T including the person's message,

    P_u(a, T) = Bin(T, 1/2)(a) (alpha a + beta),
    alpha = 2 (1-g) r(T-1) / T,    beta = (2g/d) r(T-1) + g (1 - 2/d) r(T).

So the delta of this crowd is at least the sum over T of alpha E[(A - e^eps (T - A) - h)_+] with h =
(e^eps - 1) beta / alpha. The bound loses only that N is not observed.

*Two bins* have two outputs, whose exact divergence in the worst crowd is known (``two_outputs``): a
person sends the true bin with probability 1 - g/2 and the other bin with g/2, and a fake is a fair
coin. The upper bound above is many times too large there. It is used only if the exact computation
takes too long.

Over planes of Z_p^t the upper bound with d = p covers delta, as the shift -(e^eps - 1) g of W is
the same for every message (``clear_uniform``). For the lower bound the messages whose plane
contains u are counted.

*Sets* are sent as k messages, each of which may be replaced: see ``set_in_clear``.

Source: proved here; the blanket of Balle, Bell, Gascon, Nissim, The Privacy Blanket of the Shuffle
Model (2019), theorem 3.1, with the person's own replacement kept.
"""

import math
from collections.abc import Sequence
from contextlib import suppress
from functools import reduce

import numpy as np

from mixtally.accounting.divergence import (
    Bound,
    CalibrationTarget,
    CountedParameters,
    ObservedMessage,
    ProvedDelta,
    clear_uniform,
    repeats,
    set_in_clear,
    two_outputs,
)
from mixtally.accounting.divergence.one_message import directional_upper as directional_upper
from mixtally.accounting.divergence.one_message import handles_repeats as handles_repeats
from mixtally.accounting.divergence.one_message import observed_unit as observed_unit
from mixtally.accounting.divergence.two_outputs import TwoOutputMessage
from mixtally.accounting.numerics import blanket
from mixtally.accounting.numerics.binomial_pairs import BitChances
from mixtally.accounting.numerics.bracket import bracket, join_ends
from mixtally.accounting.numerics.flip_ratios import excess
from mixtally.accounting.numerics.saddle_point import NEAR, ROUGH
from mixtally.accounting.numerics.small_support import Distribution
from mixtally.errors import EffortError
from mixtally.model.mechanism import KaryResponse, Parameter, UniformFakes
from mixtally.model.mechanism.kary_response import replacement_threshold
from mixtally.model.mechanism.parameters import Parameters
from mixtally.model.question import MOST_BINS
from mixtally.primitives import tails
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.memo import Memo

MECHANISM = KaryResponse
SOURCE = (
    "upper end: the privacy blanket of replaced values, for any crowd (Balle et al. 2019, theorem "
    "3.1); lower end: the crowd in which everybody else has the same third value"
)
TWO_BINS_SOURCE = (
    "exact distribution of two outputs; in the worst crowd everybody has one of the two values "
    "(proved in accounting/divergence/two_outputs.py)"
)
SETS_SOURCE = (
    f"{set_in_clear.SOURCE}; the replaced values of other people count as uniform fakes, those of "
    "the person do not count"
)
_MOST_PRODUCTS, _MOST_TOTALS = 1 << 27, 1 << 15
"""Limits of products and of totals for the distribution of a lower bound: a tenth of a second."""
_LEAST_SHARE, _MOST_SHARE = 1e-4, 0.99
"""Range of the share of replaced values in which a search begins."""


def counts_people(name: str, given: Parameters) -> bool:  # noqa: ARG001
    """Return whether the proof relies on the replaced values of other people.

    It does if the number of people is given.
    """
    return given.users is not None


def record_fields(name: str, counted: CountedParameters) -> tuple[ObservedMessage, int, str]:
    """Return the record of protocol ``name``, the number 1, and no assumption."""
    del name  # the only protocol
    given = counted.given
    mechanism = KaryResponse(
        bins=given.bins or MOST_BINS,
        replaced=SCALE // 2 if given.replaced is None else replacement_threshold(given.replaced),
        fakes=UniformFakes(counted.fakes),
        crowd=counted.crowd,
        max_set=given.max_set or 1,
    )
    return ObservedMessage(mechanism), 1, ""


def delta(
    message: ObservedMessage, epsilon: float, memo: Memo, *, lower_only: bool = False
) -> ProvedDelta:
    """Return both bounds of delta(epsilon), which is the same for both orders of the neighbors."""
    m = _require_kary_response(message)
    more = f" and {m.fakes.count:,} fakes arrive" if m.fakes.count else ""
    people = f"{m.crowd:,} honest people replace their values as the protocol says"
    assumption = f"{people}{more}; one mix shuffles"
    if m.max_set > 1:
        bounds = set_in_clear.delta(set_in_clear.hide_set(m, m.fakes.count), epsilon, memo)
        return ProvedDelta(bounds, SETS_SOURCE, assumption)
    if _has_two_outputs(m):
        # If the exact distribution takes too long, the bounds of any number of bins apply.
        with suppress(EffortError):
            bounds = two_outputs.delta(
                *_as_two_output_message(m), epsilon, memo, lower_only=lower_only
            )
            return ProvedDelta(bounds, TWO_BINS_SOURCE, assumption)
    most = 1.0 if lower_only else upper_bound(m, epsilon)
    return ProvedDelta(join_ends(lower_bound(m, epsilon), most), SOURCE, assumption)


def upper_bound(m: KaryResponse, epsilon: float, smoothed: float = 0.0) -> float:
    """Return an upper bound of delta for the mechanism ``m``, whose messages are sent once.

    The bound exceeds E[psi(N)] by less than a part in a thousand, or by the relative amount
    ``smoothed``.
    """
    kept, usual = (
        m.replacement_probability + m.keep_probability * m.cells,
        m.replacement_probability,
    )
    own, other = np.array([kept, usual, usual]), np.array([usual, kept, usual])
    w = excess(own, other, math.exp(epsilon))
    if not w.max() > 0.0:  # no loss exceeds epsilon
        return 0.0
    step = Distribution(w, np.array([1.0, 1.0, m.cells - 2.0]) / m.cells)
    return blanket.upper([step], m.crowd, m.fakes.count, m.replacement_probability, smoothed)


def lower_bound(m: KaryResponse, epsilon: float) -> float:
    """Return a lower bound of delta from the crowd in which all others hold one other value.

    The messages in two cells are counted, those of u and v. Over planes, for two bins, and if two
    cells would take too long, only one cell is counted. Totals T are left out if r(T-1) or r(T) was
    cut off, which only lowers the result. If r is a convolution of two windows, it lacks some
    probability near its ends. So a part of e^epsilon P_v is missing in the sum, and a bound on this
    part is subtracted at the end.
    """
    share = 2.0 / m.cells
    sources = [(m.crowd - 1, m.replacement_probability * share), (m.fakes.count, share)]
    windows = [(n, q, *tails.window(n, q)) for n, q in sources if n]
    widths = [last - first + 1 for _, _, first, last in windows]
    one_cell = m.cells == 2 or m.planes is not None
    if one_cell or sum(widths) > _MOST_TOTALS or math.prod(widths) > _MOST_PRODUCTS:
        return repeats.lower_bound(_message_kinds(m), epsilon, 1)
    law = reduce(np.convolve, [tails.pmf(*window) for window in windows], np.ones(1))
    first = sum(low for _, _, low, _ in windows)
    if first + len(law) - 1 == sum(n for n, *_ in windows):  # nothing above was cut off
        law = np.append(law, 0.0)
    below, same = law[:-1], law[1:]  # r(T - 1), r(T)
    total = np.arange(first + 1.0, first + len(law))
    alpha = 2.0 * m.keep_probability * below / total
    beta = m.replacement_probability * (share * below + (1.0 - share) * same)
    live = alpha > 0.0
    shift = math.expm1(epsilon) * beta[live] / alpha[live]
    value, rounding = clear_uniform.two_cell_excess(total[live], alpha[live], epsilon, shift)
    lost = 2.0 * len(windows) * tails.CUT_TAIL * math.exp(epsilon) if len(windows) > 1 else 0.0
    return max(0.0, bracket(value, cut=0.0, rounding=min(1.0, rounding)).lower - lost)


def choose_bound(message: ObservedMessage, bound: Bound) -> Bound:
    """Return the tightest kind of bound that costs no more than ``bound``.

    Sets have only near bounds. For one message among more than two bins, points of a curve may be
    near or rough, and estimates are near. For two bins, an estimate tries candidates for the worst
    crowd, and a proof covers several epsilons at once.
    """
    m = _require_kary_response(message)
    if m.max_set > 1:
        return Bound.NEAR if bound in (Bound.NEAR, Bound.ROUGH) else Bound.EXACT
    if _has_two_outputs(m):
        return bound if bound is not Bound.ROUGH else Bound.EXPECTED
    return Bound.NEAR if bound is Bound.EXPECTED else bound


def upper(
    message: ObservedMessage, epsilons: Sequence[float], bound: Bound, memo: Memo
) -> Sequence[float]:
    """Return upper bounds at several epsilons."""
    m = _require_kary_response(message)
    if m.max_set > 1:
        near, hidden = bound in (Bound.NEAR, Bound.ROUGH), set_in_clear.hide_set(m, m.fakes.count)
        return [set_in_clear.upper(hidden, epsilon, memo, near=near) for epsilon in epsilons]
    if _has_two_outputs(m):
        with suppress(EffortError):
            return _exact_upper(m, epsilons, bound, memo)
    smoothed = {Bound.NEAR: NEAR, Bound.ROUGH: ROUGH}.get(bound, 0.0)
    return [upper_bound(m, epsilon, smoothed) for epsilon in epsilons]


def _exact_upper(
    m: KaryResponse, epsilons: Sequence[float], bound: Bound, memo: Memo
) -> list[float]:
    """Return an upper bound of delta at each epsilon, for messages with two outputs.

    Raises EffortError if the distribution of one crowd would take too long.
    """
    if bound in (Bound.EXPECTED, Bound.ROUGH):
        return [
            two_outputs.expected_upper(*_as_two_output_message(m), one, memo) for one in epsilons
        ]
    if bound is Bound.NEAR and len(epsilons) > 1:
        return [
            found.upper
            for found in two_outputs.delta_at_several(*_as_two_output_message(m), epsilons, memo)
        ]
    return [two_outputs.delta(*_as_two_output_message(m), one, memo).upper for one in epsilons]


def _has_two_outputs(m: KaryResponse) -> bool:
    """Return whether messages have two outputs."""
    return m.cells == 2 and m.planes is None


def _as_two_output_message(m: KaryResponse) -> tuple[TwoOutputMessage, int, int]:
    """Return a message of two outputs, the number of other people, and 0.

    These are the first arguments of ``two_outputs.delta``; 0 is the number of fake zeros.
    """
    chances = BitChances(m.replaced, 2 * SCALE - m.replaced, 2 * SCALE)
    return TwoOutputMessage(chances, fair=m.fakes.count), m.crowd - 1, 0


def lower_of(message: ObservedMessage, epsilon: float, rounds: int) -> float:
    """Return a lower bound from the count of one bin, or set, that nobody else holds."""
    m = _require_kary_response(message)
    if m.max_set > 1:
        return set_in_clear.lower_by_counting(
            set_in_clear.hide_set(m, m.fakes.count), epsilon, rounds
        )
    return repeats.lower_bound(_message_kinds(m), epsilon, rounds)


def start(message: ObservedMessage, parameter: Parameter, goal: CalibrationTarget) -> int:
    """Return the ``parameter`` with which every bin has the usual number of hiding messages.

    Hiding messages are the replaced values of other people and the fakes.
    """
    m = _require_kary_response(message)
    cover = goal.cover * math.pow(m.max_set, set_in_clear.GROWTH) * m.cells
    if parameter == Parameter.REPLACED:
        share = (cover - m.fakes.count) / (m.crowd * m.max_set)
        return round(min(max(share, _LEAST_SHARE), _MOST_SHARE) * SCALE)
    if parameter == Parameter.FAKES:
        return max(0, round(cover - m.crowd * m.max_set * m.replacement_probability))
    raise TypeError(f"{m.name} has no {parameter}")


def _message_kinds(m: KaryResponse) -> list[repeats.MessageKind]:
    """Return a list with one kind of message: those that name a bin which only the person holds."""
    others = [(m.crowd - 1, m.hit_probability), (m.fakes.count, 1.0 / m.cells)]
    return [
        repeats.MessageKind(
            others, m.keep_probability + m.replacement_probability / m.cells, m.hit_probability
        )
    ]


def _require_kary_response(message: ObservedMessage) -> KaryResponse:
    if not isinstance(message.mechanism, KaryResponse):
        raise TypeError(f"{message.mechanism.name} replaces no values")
    return message.mechanism

"""Options of records in clear: uniform fakes, mixes' shaped ones, or values that share bins."""

import math
import operator
from dataclasses import replace

import msgspec

from mixtally.errors import ParameterError
from mixtally.planner.build import option
from mixtally.planner.flip_options import Result, lacks
from mixtally.planner.noise import keeps, uniform_fakes
from mixtally.planner.options import CONFIDENCE, Infeasible, Likely
from mixtally.planner.request import MOST_MESSAGES, PlanRequest
from mixtally.privacy.accountant import Accountant, Record
from mixtally.privacy.calibrate import calibrate
from mixtally.privacy.divergence.in_clear import usual_ratio
from mixtally.records.encodings import Encoding
from mixtally.records.guarantee import arriving
from mixtally.records.hashing import HMAC_SHA256, Hashing
from mixtally.records.layout import Form, Layout
from mixtally.records.mechanism import InClear, Parameter, ShapedFakes, UniformFakes
from mixtally.records.question import Kind, Question

_IN_CLEAR = "no --local-epsilon: answers travel in clear, so nothing survives broken mixes"
_HAIR = 1e-6
_SEARCHED_BITS = 13
"""What several collections need is found to one part in so many bits."""
_FEW = 8
"""Fewer bins would let nobody be told from all who share one."""
_HUGE = 100_000
"""From so many bins on values may share bins: below, flips take at most 12,500 bytes a message."""


def clear_uniform(request: PlanRequest, encoding: Encoding, accountant: Accountant) -> Result:
    """As many fakes as the bins need: more would only add noise."""
    clear = encoding.in_clear()
    if clear is None:
        return None
    if request.local_epsilon is not None:
        return Infeasible("clear-uniform", _IN_CLEAR)
    if request.likely:
        return _likely(request, clear, accountant)
    needs = [uniform_fakes(accountant, request, encoding, part.bins) for part in clear.parts]
    sizes = [Layout(Form.INDEX, part.bins).message_bytes for part in clear.parts]
    total, sent = (
        sum(needs),
        [(request.users + k) * size for k, size in zip(needs, sizes, strict=True)],
    )
    few_bytes = sum(sent) > (request.bytes_per_user or math.inf) * request.users
    if total <= len(needs) * replace(request, bytes_per_user=None).most_fakes(len(needs)):
        if few_bytes:
            most = math.ceil(1000 * sum(sent) / request.users) / 1000
            return Infeasible("clear-uniform", f"{total:,} fakes: --bytes-per-user {most:.10g}")
        pairs = zip(clear.parts, needs, strict=True)
        return option(request, [(part, _among(part.bins, k)) for part, k in pairs], accountant)
    need = f"{total:,} fakes, {total / sum(part.bins for part in clear.parts):.4g} a bin"
    thousandths = 1000 * len(needs) + -(-1000 * total // request.users)
    if thousandths <= 1000 * MOST_MESSAGES:
        return Infeasible("clear-uniform", f"{need}: --messages-per-user {thousandths / 1000:.10g}")
    users = -(-total // (round(MOST_MESSAGES) - len(needs)))
    return Infeasible(
        "clear-uniform",
        f"{need}: at least {users:,} users who send {MOST_MESSAGES:g} messages each",
    )


def _likely(request: PlanRequest, clear: Encoding, accountant: Accountant) -> Result:
    """Whether all the fakes that are affordable, and leave something to be told, most likely hide
    the smallest part and the largest: what a part needs grows nearly as its bins.
    """
    bins, users = [part.bins for part in clear.parts], request.users
    sizes = [Layout(Form.INDEX, part.bins).message_bytes for part in clear.parts]
    budget = len(bins) * replace(request, bytes_per_user=None).most_fakes(len(bins))
    each = budget / sum(bins)
    if request.bytes_per_user is not None:
        left = (request.bytes_per_user - sum(sizes)) * users
        each = min(each, left / sum(map(operator.mul, bins, sizes)))
    # An empty bin's variance is (fakes / bins)(1 - 1 / bins).
    each = min(each, (users / CONFIDENCE) ** 2 * (1.0 - _HAIR))
    together = len(bins) * request.collections
    for size in {min(bins), max(bins)} if each >= 0.0 else set():
        fakes = arriving(math.floor(each * size), request.sure_fraction)
        if not keeps(accountant, request, Record.of(_among(size, fakes)), together):
            return Infeasible("clear-uniform", "more fakes")
    return Likely() if each >= 0.0 else Infeasible("clear-uniform", "more messages")


def clear_hashed(request: PlanRequest, encoding: Encoding, accountant: Accountant) -> Result:
    """Values hashed into as many bins as the fakes can cover."""
    (question, *rest) = encoding.parts
    in_clear = question.kind is Kind.ONE and request.local_epsilon is None
    if rest or not in_clear or request.hash_seed is None:
        return None
    if question.hashed is not None or question.bins < _HUGE:
        return None
    if request.likely:
        return _likely(request, Encoding((Question(name=question.name, bins=_FEW),)), accountant)
    bins = 0
    for size in (1, 2, 3) if request.bytes_per_user else (3,):  # bytes of a bin's number
        fakes = request.most_fakes(1, size)
        most = min(question.bins, 256**size, fakes)
        bins = max(bins, _most_bins(accountant, request, encoding, most, fakes))
    if not 2 <= bins < question.bins:
        return None
    shared = Hashing(function=HMAC_SHA256, seed=request.hash_seed, values=question.bins)
    hashed = Question(name=question.name, bins=bins, hashed=shared)
    fakes = uniform_fakes(accountant, request, encoding, bins)
    return option(request, [(hashed, _among(bins, fakes))], accountant)


def clear_shaped(request: PlanRequest, encoding: Encoding, accountant: Accountant) -> Result:
    """The distribution of least spread, drawn by mixes: users send nothing but their reports."""
    clear = encoding.in_clear()
    if clear is None:
        return None
    if request.local_epsilon is not None:
        return Infeasible("clear-shaped", _IN_CLEAR)
    if not request.mix_fakes:
        return Infeasible("clear-shaped", "a mix that is trusted to draw the fakes: --mix-fakes")
    size = sum(Layout(Form.INDEX, part.bins).message_bytes for part in clear.parts)
    if request.most_fakes(len(clear.parts), size / len(clear.parts)) < 0:
        return lacks("clear-shaped", request, encoding, size)
    together = len(clear.parts) * request.collections
    shaped = ShapedFakes(usual_ratio(request.guarantee.epsilon, together), 1, request.mixes)
    one = Record.of(InClear(bins=clear.parts[0].bins, fakes=shaped))
    try:
        found = calibrate(
            accountant,
            one,
            Parameter.SHIFT,
            request.guarantee.epsilon,
            request.guarantee.delta,
            collections=together,
        )
    except ParameterError:
        return Infeasible("clear-shaped", "a larger epsilon or delta: its fakes would be too many")
    mechanism = found.message.mechanism
    return option(
        request,
        [(part, msgspec.structs.replace(mechanism, bins=part.bins)) for part in clear.parts],
        accountant,
    )


def _among(bins: int, fakes: int) -> InClear:
    return InClear(bins=bins, fakes=UniformFakes(fakes))


def _most_bins(
    accountant: Accountant, request: PlanRequest, encoding: Encoding, most: int, fakes: int
) -> int:
    """The most bins up to ``most`` that ``fakes`` cover, 0 for none.

    The fakes that are needed rise nearly as the bins: each trial is scaled by what the last missed.
    """
    over, fit, trial = most + 1, 0, most
    closely = len(encoding.parts) * request.collections == 1
    while over - fit > (1 if closely else max(1, fit >> _SEARCHED_BITS)) and trial >= 2:
        need = uniform_fakes(accountant, request, encoding, trial)
        if need <= fakes:
            fit, trial = trial, trial + max(1, (fakes - need) * trial // need)
        else:
            over, trial = trial, trial * fakes // need
        trial = max(fit + 1, min(trial, over - 1))
    return fit if fit >= 2 else 0

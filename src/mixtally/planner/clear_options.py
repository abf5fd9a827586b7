"""Options of records in clear: uniform fakes, mixes' shaped ones, or values that share bins."""

import math
from dataclasses import replace

import msgspec

from mixtally.errors import ParameterError
from mixtally.planner.build import option
from mixtally.planner.flip_options import Result, lacks
from mixtally.planner.noise import uniform_fakes
from mixtally.planner.options import Infeasible
from mixtally.planner.request import MOST_MESSAGES, PlanRequest
from mixtally.privacy.accountant import Accountant, Record
from mixtally.privacy.calibrate import calibrate, keeps
from mixtally.privacy.divergence import CalibrationTarget
from mixtally.privacy.divergence.in_clear import start, usual_ratio
from mixtally.records.encodings import Encoding
from mixtally.records.guarantee import arriving
from mixtally.records.hashing import HMAC_SHA256, Hashing
from mixtally.records.layout import Form, Layout
from mixtally.records.mechanism import InClear, Parameter, ShapedFakes, UniformFakes
from mixtally.records.mechanism.fakes import MOST_SHIFT
from mixtally.records.question import Kind, Question

_IN_CLEAR = "no --local-epsilon: answers travel in clear, so nothing survives broken mixes"
_HUGE = 100_000
"""From so many bins on values may share bins: below, flips take at most 12,500 bytes a message."""


def clear_uniform(request: PlanRequest, encoding: Encoding, accountant: Accountant) -> Result:
    """As many fakes as the bins need: more would only add noise."""
    clear = encoding.in_clear()
    if clear is None:
        return None
    if request.local_epsilon is not None:
        return Infeasible("clear-uniform", _IN_CLEAR)
    bins = [part.bins for part in clear.parts]
    if request.likely and not _affordable(request, encoding, bins, accountant):
        return Infeasible("clear-uniform", "more fakes than the budget allows")
    needs = _needs(request, encoding, bins, accountant)
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


def clear_hashed(request: PlanRequest, encoding: Encoding, accountant: Accountant) -> Result:
    """Values hashed into as many bins as the fakes can cover."""
    (question, *rest) = encoding.parts
    in_clear = question.kind is Kind.ONE and request.local_epsilon is None
    if rest or not in_clear or request.hash_seed is None:
        return None
    if question.hashed is not None or question.bins < _HUGE:
        return None
    bins = 0
    for size in (1, 2, 3) if request.bytes_per_user else (3,):  # bytes of a bin's number
        fakes = request.most_fakes(1, size)
        most = min(question.bins, 256**size, fakes)
        bins = max(bins, _most_bins(accountant, request, encoding, most, fakes))
    if not 2 <= bins < question.bins:
        return None
    shared = Hashing(function=HMAC_SHA256, seed=request.hash_seed, values=question.bins)
    hashed = Question(name=question.name, bins=bins, hashed=shared)
    (fakes,) = _needs(request, encoding, [bins], accountant)
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
    found = _shifted(request, one, together, accountant)
    if found is None:
        return Infeasible("clear-shaped", "a larger epsilon or delta: its fakes would be too many")
    mechanism = found.message.mechanism
    return option(
        request,
        [(part, msgspec.structs.replace(mechanism, bins=part.bins)) for part in clear.parts],
        accountant,
    )


def _shifted(
    request: PlanRequest, one: Record, together: int, accountant: Accountant
) -> Record | None:
    """``one`` with the least shift that keeps the guarantee, or where a search for it begins, if
    that is enough; None for none.
    """
    epsilon, delta = request.guarantee.epsilon, request.guarantee.delta
    if request.likely:
        shift = start(one.message, Parameter.SHIFT, CalibrationTarget(epsilon, delta, together))
        return one.having(Parameter.SHIFT, shift) if shift <= MOST_SHIFT else None
    try:
        return calibrate(accountant, one, Parameter.SHIFT, epsilon, delta, collections=together)
    except ParameterError:
        return None


def _needs(
    request: PlanRequest, encoding: Encoding, bins: list[int], accountant: Accountant
) -> list[int]:
    """The fakes of each message; where likely ones do, as many a bin as in the largest."""
    if not request.likely:
        return [uniform_fakes(accountant, request, encoding, each) for each in bins]
    most = max(bins)
    fakes = uniform_fakes(accountant, request, encoding, most)
    return [-(-fakes * each // most) for each in bins]


def _affordable(
    request: PlanRequest, encoding: Encoding, bins: list[int], accountant: Accountant
) -> bool:
    """Whether the fakes that all messages may have most likely do for the one of most bins."""
    allowed = len(bins) * replace(request, bytes_per_user=None).most_fakes(len(bins))
    most = max(bins)
    fakes = arriving(max(0, allowed * most // sum(bins)), request.sure_fraction)
    record = Record.of(InClear(bins=most, fakes=UniformFakes(fakes)))
    together = len(encoding.parts) * request.collections
    return keeps(accountant, record, request.guarantee.epsilon, request.guarantee.delta, together)


def _among(bins: int, fakes: int) -> InClear:
    return InClear(bins=bins, fakes=UniformFakes(fakes))


def _most_bins(
    accountant: Accountant, request: PlanRequest, encoding: Encoding, most: int, fakes: int
) -> int:
    """The most bins up to ``most`` that ``fakes`` cover, 0 for none; where likely ones do, about.

    The fakes that are needed rise nearly as the bins: each trial is scaled by what the last missed.
    """
    if request.likely:
        every = encoding.parts[0].bins
        bins = min(most, fakes * every // uniform_fakes(accountant, request, encoding, every))
        return bins if bins >= 2 else 0
    over, fit, trial = most + 1, 0, most
    while over - fit > 1 and trial >= 2:
        need = uniform_fakes(accountant, request, encoding, trial)
        if need <= fakes:
            fit, trial = trial, trial + max(1, (fakes - need) * trial // need)
        else:
            over, trial = trial, trial * fakes // need
        trial = max(fit + 1, min(trial, over - 1))
    return fit if fit >= 2 else 0

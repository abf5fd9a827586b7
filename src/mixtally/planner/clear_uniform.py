"""clear-uniform: values or sets in clear among uniform fakes of devices, or values in few bins."""

import math
from fractions import Fraction

from mixtally.errors import EffortError, ParameterError
from mixtally.ground.fixed import SCALE
from mixtally.planner.clear_shaped import IN_CLEAR
from mixtally.planner.flips import uncrowded
from mixtally.planner.layouts import in_clear
from mixtally.planner.noise import uniform_fakes, with_coins, without_coins
from mixtally.planner.options import Candidate, Infeasible, Result, tells_nothing
from mixtally.planner.pricing import own_fakes
from mixtally.planner.request import MOST_MESSAGES, PlanRequest
from mixtally.privacy.accountant import Accountant, Record
from mixtally.privacy.calibrate import keeps
from mixtally.records.encodings import Encoding
from mixtally.records.hashing import HMAC_SHA256, Hashing
from mixtally.records.mechanism import InClear, UniformFakes
from mixtally.records.part import FakeRecord, Part
from mixtally.records.question import MOST_BINS, Kind, Question
from mixtally.records.recipe import NoRecipe

NAME = "clear-uniform"
_HUGE = 100_000
"""From so many bins on values may share bins."""


def of_people(request: PlanRequest, encoding: Encoding, accountant: Accountant) -> Result:
    """As many fakes as the bins need: more would only add noise."""
    clear, people = _in_clear(encoding), request.people
    if clear is None:
        return None
    if request.local_epsilon is not None:
        return Infeasible(NAME, IN_CLEAR)
    if people is None:
        return Infeasible(NAME, uncrowded(request))
    bins, size = [part.bins for part in clear], clear[0].max_set
    if request.likely and not _affordable(request, encoding, bins, people, accountant, size):
        return Infeasible(NAME, "more fakes than the budget allows")
    try:
        needs = _needs(request, encoding, bins, accountant, size)
    except EffortError:
        raise
    except ParameterError:
        return Infeasible(NAME, "a larger epsilon or delta, or more people")
    own = len(needs) * size
    sent = own + Fraction(sum(needs), people)
    if sent > MOST_MESSAGES:
        users = -(-sum(needs) // (round(MOST_MESSAGES) - own))
        return Infeasible(
            NAME,
            f"{_many(sum(needs), bins)}: at least {users:,} users who send {MOST_MESSAGES:g} "
            "messages each",
        )
    if sent > request.own_fakes(1) + 1:
        need = math.ceil(1000 * sent) / 1000
        return Infeasible(NAME, f"{_many(sum(needs), bins)}: --messages-per-user {need:.10g}")
    found = _among(request, request.question, bins, needs, people, size)
    if not found.fits_bytes:
        most = math.ceil(1000.0 * found.bytes_per_user) / 1000.0
        return Infeasible(NAME, f"{sum(needs):,} fakes: --bytes-per-user {most:.10g}")
    return tells_nothing(found) or found


def _in_clear(encoding: Encoding) -> tuple[Question, ...] | None:
    """What is asked of every message, or of the messages of a set; None for other records."""
    (first, *others) = encoding.parts
    if first.kind is Kind.SET and not others and first.attributes is None and first.max_set > 1:
        return encoding.parts if first.bins + first.max_set <= MOST_BINS else None
    clear = encoding.in_clear()
    return None if clear is None else clear.parts


def hashed(request: PlanRequest, encoding: Encoding, accountant: Accountant) -> Result:
    """Values hashed into as many bins as the fakes of the budget can cover."""
    (question, *rest) = encoding.parts
    people = request.people
    sent_clear = question.kind is Kind.ONE and request.local_epsilon is None
    if rest or not sent_clear or request.hash_seed is None or people is None or request.mixes_draw:
        return None
    if question.hashed is not None or question.bins < _HUGE:
        return None
    if request.edges is not None or request.prefixes is not None:
        return None
    bins = 0
    for size in (1, 2, 3) if request.bytes_per_user else (3,):  # bytes of a bin's number
        fakes = _fakes_within(request, size, people)
        most = min(question.bins, 256**size, fakes)
        bins = max(bins, _most_bins(accountant, request, encoding, most, fakes))
    if not 2 <= bins < question.bins:
        return None
    shared = Hashing(function=HMAC_SHA256, seed=request.hash_seed, values=question.bins)
    asked = Question(name=question.name, bins=bins, hashed=shared)
    needs = _needs(request, encoding, [bins], accountant)
    found = _among(request, asked, [bins], needs, people)
    return tells_nothing(found) or found


def _fakes_within(request: PlanRequest, size: int, people: int) -> int:
    """Fakes of all sure people that the budget allows, of messages of so many bytes."""
    fakes = request.own_fakes(1)
    if request.bytes_per_user is not None:
        part = _part(min(256**size, MOST_BINS), None)
        sent = Candidate(request, request.question, (part,)).bytes_per_user
        fakes = min(fakes, Fraction(request.bytes_per_user) / Fraction(sent) - 1)
    return max(0, math.floor(without_coins(request, fakes * people, 1)) - 1)


def _many(fakes: int, bins: list[int]) -> str:
    return f"{fakes:,} fakes, {fakes / sum(bins):.4g} a bin"


def _among(
    request: PlanRequest,
    question: Question,
    bins: list[int],
    needs: list[int],
    people: int,
    size: int = 1,
) -> Candidate:
    """The candidate with so many fakes of sure people in each part."""
    pairs = zip(bins, needs, strict=True)
    parts = tuple(_part(each, -(-need * SCALE // people), size) for each, need in pairs)
    return Candidate(request, question, parts)


def _part(bins: int, mean: int | None, size: int = 1) -> Part:
    return in_clear(bins, own_fakes(FakeRecord.UNIFORM, mean or 1), NoRecipe(), size)


def _needs(
    request: PlanRequest,
    encoding: Encoding,
    bins: list[int],
    accountant: Accountant,
    size: int = 1,
) -> list[int]:
    """The fakes of each message, or of a set's, coins included; where likely ones do, as many a
    bin as in the largest.
    """
    if request.likely:
        most = max(bins)
        fakes = uniform_fakes(accountant, request, encoding, most, size)
        found = {each: -(-fakes * each // most) for each in set(bins)}
    else:
        found = {
            each: uniform_fakes(accountant, request, encoding, each, size) for each in set(bins)
        }
    return [with_coins(request, found[each], len(bins)) for each in bins]


def _affordable(
    request: PlanRequest,
    encoding: Encoding,
    bins: list[int],
    people: int,
    accountant: Accountant,
    size: int,
) -> bool:
    """Whether the fakes that all messages may have most likely do for the one of most bins."""
    allowed = math.floor((request.own_fakes(1) + 1 - len(bins) * size) * people)
    if allowed < 0:
        return False
    most = max(bins)
    fakes = round(without_coins(request, Fraction(allowed * most, sum(bins)), len(bins)))
    record = Record.of(InClear(bins=most, max_set=size, fakes=UniformFakes(fakes)))
    together = len(encoding.parts) * request.collections
    return keeps(accountant, record, request.guarantee.epsilon, request.guarantee.delta, together)


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

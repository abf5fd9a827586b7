"""Choice of the plan of least standard error among all protocols, with the reason.

``choose`` is called for every plan. A ``Planner`` remembers the results of one series of requests.
Each protocol's file computes a candidate, whose noise is an estimate. The best candidates are then
proved (``planning.pricing``), in the order of their errors, until one succeeds.
"""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from mixtally.accounting.accountant import Accountant
from mixtally.accounting.baselines import central_error
from mixtally.accounting.divergence import vectors
from mixtally.errors import EffortError, InfeasibleError, pluralize
from mixtally.model.encodings import Encoding, list_encodings
from mixtally.model.plan import Cover, Plan
from mixtally.model.question import Kind
from mixtally.planning import (
    clear_shaped,
    clear_uniform,
    flip,
    flip_blank,
    flip_uniform,
    kary_response,
    planes,
    single_bit,
    slots,
)
from mixtally.planning.options import Candidate, Choice, Infeasible, Result
from mixtally.planning.pricing import make_plan
from mixtally.planning.reason import describe_budget, describe_choice, format_error
from mixtally.planning.request import PlanRequest
from mixtally.primitives.fixed_point import to_fraction
from mixtally.primitives.memo import Memo

KIND_LIMITS = {
    Kind.ONE: "it cannot hold one value of many",
    Kind.SET: "it cannot hold sets",
    Kind.BITS: "it cannot hold free bits in one message",
}
"""The reason why a protocol has no encoding for a kind of record."""
PROTOCOLS: tuple[tuple[str, Callable[[PlanRequest, Encoding, Accountant], Result]], ...] = (
    (clear_shaped.NAME, clear_shaped.candidate_by_mixes),
    (flip_blank.NAME, flip_blank.candidate_by_mixes),
    (single_bit.NAME, single_bit.candidate_by_mixes),
    (clear_uniform.NAME, clear_uniform.candidate_by_mixes),
    (clear_uniform.NAME, planes.candidate_by_mixes),
    (clear_uniform.NAME, clear_uniform.candidate_by_people),
    (clear_uniform.NAME, planes.candidate_by_people),
    (flip_blank.NAME, flip_blank.candidate_by_people),
    (single_bit.NAME, single_bit.candidate_by_people),
    (flip.NAME, flip.candidate_by_people),
    (flip_uniform.NAME, flip_uniform.candidate_by_people),
    (kary_response.NAME, kary_response.candidate_by_people),
    (kary_response.NAME, kary_response.candidate_over_planes),
    (slots.NAME, slots.candidate_by_mixes),
    (slots.NAME, slots.candidate_of_one),
    (slots.NAME, slots.candidate_of_several),
)
"""Pairs of a protocol's name and a function that computes its candidate.

A protocol can have several functions, for example one for each source of its cover. The order
decides between equal errors.
"""
OPEN_DOMAIN_EVALUATIONS = (
    planes.candidate_by_mixes,
    planes.candidate_by_people,
    kary_response.candidate_over_planes,
)
"""The functions in ``PROTOCOLS`` that have an encoding for values of an open domain (any text)."""
SLOTS_EVALUATIONS = (
    slots.candidate_by_mixes,
    slots.candidate_of_one,
    slots.candidate_of_several,
)
"""The functions in ``PROTOCOLS`` for plans in which devices send only some slots of a record.

A slot is an attribute, a bit, or a possible member of a set.
"""
SIMILAR_ERROR_RATIO = 1.02
"""Errors whose ratio is at most this number are treated as equal."""
Ranked = tuple[tuple[bool, float], Callable[[], Result]]
"""A rank, and a function that returns the candidate. The rank is whether people draw the fakes,
followed by the estimated error.
"""
_MOST_BYTES = 16_000_000
"""The memory limit of a planner's cache."""
_COSTLY_PRODUCTS, _MOST_PRODUCTS = 50_000, 1_000_000
"""Two limits of the number of products that one delta of a whole bit vector takes. Computing these
takes about 1 and 10 milliseconds, and a search computes hundreds of deltas.
"""
_BUDGETS = (1, 1.01, 1.1, 1.5, 2, 3, 5, 10, 30, 100, 300, 1000)
"""The budgets below the requested one that are tried, in messages per user."""
_OVER_BUDGET_REASON = "slightly more than its budget, as coins and caps add to its noise"


class Candidates(NamedTuple):
    """The candidates that were found for a request, and the protocols that are infeasible."""

    found: tuple[Candidate, ...]
    infeasible: tuple[Infeasible, ...]


class Planner:
    """Cache shared by planning calls.

    Pass one planner to all calls about similar requests. The cache is discarded together with the
    planner, so nothing is cached for the whole process.
    """

    def __init__(self) -> None:
        self.accountant = Accountant()
        self._approximate_accountant = self.accountant.approximate_copy()
        self._memo = Memo(_MOST_BYTES)
        self._began = self.accountant.prices

    @property
    def prices(self) -> int:
        """The number of prices (values of delta) computed so far: a measure of the work."""
        return self.accountant.prices - self._began

    def evaluations(
        self, request: PlanRequest, *, sketched: bool = False, again: bool = True
    ) -> Iterator[Callable[[], Result]]:
        """Yield, for each protocol and encoding, a function that computes the candidate.

        The function returns an ``Infeasible`` or None if there is no candidate. Each result is
        computed at most once. If ``sketched`` is true, estimates of delta replace
        proved bounds. If ``again`` is false, bit vectors that are sent whole and several times are
        left out.
        """
        accountant = self._approximate_accountant if sketched else self.accountant
        # The place identifies an evaluation in the cache. Repeated vectors are listed last, so
        # leaving them out does not move the others.
        for place, (name, evaluate) in enumerate(
            _list_evaluations(request, accountant, again=again)
        ):
            key = (request, place, sketched)
            yield partial(self._memo.get, key, partial(_evaluate_safely, name, evaluate))

    def plan(self, found: Candidate) -> Plan | None:
        """Return the proved plan of a candidate.

        Return None if no proved plan is within the budget, or if its counts would not be
        informative.
        """
        return self._memo.get(("plan", found), lambda: make_plan(found, self.accountant))

    def choose_least(
        self, ranked: Iterable[Ranked], similar_ratio: float = SIMILAR_ERROR_RATIO
    ) -> tuple[tuple[Plan, Candidate] | None, list[Candidate]]:
        """Return the plan of least error with its candidate, and candidates that exceed the budget.

        ``ranked`` is sorted by increasing rank. The first result is None if no candidate has a plan
        within the budget. Coins increase a candidate's error, so a candidate with a larger estimate
        can have the better plan. Hence all candidates within ``similar_ratio`` of the best error
        are proved. Among them, the plan with the fewest bytes and then the fewest fakes is
        returned.
        """
        found: list[tuple[Plan, Candidate]] = []
        missed: list[Candidate] = []
        limit = (True, math.inf)
        for rank, evaluate in ranked:
            # The evaluations are ordered by rank, so none of the others can be better.
            if rank > limit:
                break
            candidate = evaluate()
            if not isinstance(candidate, Candidate):
                continue
            plan = self.plan(candidate)
            if plan is None:
                missed.append(candidate)
                continue
            found.append((plan, candidate))
            cover, error = _rank(plan, candidate.request.count)
            limit = min(limit, (cover, error * similar_ratio))
        best = [one for one in found if _rank(one[0], one[1].request.count) <= limit]
        # If bytes are equal, fakes decide: a mix adds far fewer shaped fakes than uniform ones.
        cost = [(plan.bytes_per_user, plan.messages_per_mix) for plan, _ in best]
        return (best[cost.index(min(cost))] if best else None), missed

    def candidates(self, request: PlanRequest, *, smaller: bool = False) -> Candidates:
        """Return every candidate for a request, and the protocols that are infeasible.

        Parameters
        ----------
        request : PlanRequest
            The question, the guarantee and the budget.
        smaller : bool
            Whether candidates that send less than the whole budget are searched for as well.

        Returns
        -------
        Candidates
            Candidates for the whole budget from the smallest error on, then those for smaller
            budgets. Infeasible protocols are those that are infeasible for the whole budget.
        """
        found = self._memo.get(request, lambda: _candidates(request, list(self._results(request))))
        if smaller:
            return found._replace(found=(*found.found, *self._smaller(request, found.found)))
        return found

    def best_estimate(self, request: PlanRequest, *, mixes_first: bool = False) -> Candidate | None:
        """Estimate the best candidate for the whole budget, without a proof.

        Parameters
        ----------
        request : PlanRequest
            The question, the guarantee and the budget.
        mixes_first : bool
            Whether candidates whose fakes every mix draws are preferred, as in ``choose``;
            otherwise only errors are compared.

        Returns
        -------
        Candidate or None
            None if most likely no candidate exists.
        """
        results = self._results(request, sketched=True)
        found = (one for one in results if isinstance(one, Candidate))
        return min(
            found,
            key=lambda one: (mixes_first and one.cover is not Cover.MIXES, one.error),
            default=None,
        )

    def probably_feasible(self, request: PlanRequest) -> bool:
        """Return whether a candidate most likely exists, for the whole budget or without fakes.

        Nothing is proved. This check takes a fraction of the time of ``best_estimate``.
        """
        evaluated = (
            one
            for budgeted in _vary_budgets(replace(request, accept_probable=True), smaller=(1,))
            for one in self._results(budgeted, sketched=True)
        )
        return any(isinstance(one, Candidate) for one in evaluated)

    def _smaller(self, request: PlanRequest, found: tuple[Candidate, ...]) -> list[Candidate]:
        """Return candidates that send less than the whole budget.

        Parameters
        ----------
        request : PlanRequest
            The request, with its whole budget.
        found : tuple of Candidate
            All candidates for the whole budget.

        Notes
        -----
        Budgets are tried from large to small. A protocol is tried at the next smaller budget as
        long as its error falls, or is below the error of the candidate that sends least.

        The delta of several collections is costly to compute. So with several collections, a
        protocol is left out if it is infeasible for the whole budget. A protocol that replaces
        values is also left out if its error at the least budget is no smaller than at the whole
        budget.

        Whole bit vectors that are sent several times are not tried if their delta takes too many
        products to compute, as in a very small crowd. The limit of products is smaller if some
        candidate sends bits one by one. Such a candidate has a smaller error than whole vectors,
        however often the vectors are sent.
        """
        whole, *smaller = _vary_budgets(request)
        split = any(len(option.parts) > 1 for option in found)
        most = _COSTLY_PRODUCTS if split else _MOST_PRODUCTS
        again = max(map(_estimate_products, found), default=0) <= most
        cheapest = [*self._results(smaller[0], again=again)] if smaller else []
        least = [one for one in cheapest if isinstance(one, Candidate)]
        bar = min(((*one.cost[1:], one.error) for one in least), default=(math.inf,))[-1]
        kept, errors = least, defaultdict[int, list[float]](list)
        sends_least = dict(enumerate(cheapest))  # may lack whole vectors that are sent repeatedly
        # From large budgets to small ones: the errors of the larger budgets decide whether a
        # protocol is followed further.
        for budgeted in (whole, *reversed(smaller[1:])):
            for place, evaluate in enumerate(self.evaluations(budgeted, again=again)):
                costly = request.collections > 1 and budgeted is not whole
                if costly and (
                    not errors[place]
                    or _is_replacement_no_better(sends_least.get(place), errors[place][0])
                ):
                    continue
                before, last = errors[place][-2:] if len(errors[place]) > 1 else (math.inf, 0.0)
                if last < max(before, bar) and isinstance(one := evaluate(), Candidate):
                    errors[place].append(one.error)
                    kept += [one] if budgeted is not whole else []
        return kept

    def _results(
        self, request: PlanRequest, *, sketched: bool = False, again: bool = True
    ) -> Iterator[Result]:
        """Return an iterator that evaluates every protocol and encoding, one by one."""
        evaluations = self.evaluations(request, sketched=sketched, again=again)
        return (evaluate() for evaluate in evaluations)


def choose(
    request: PlanRequest, planner: Planner | None = None, similar_ratio: float = SIMILAR_ERROR_RATIO
) -> Choice:
    """Choose the plan of least standard error that keeps the guarantee within the budget.

    If mixes may draw fakes, plans in which every mix draws them come first, whatever their error:
    then one honest mix suffices. Smaller budgets are tried as well: in a very small crowd, or for a
    large epsilon, fakes can increase the error of a plan.

    Parameters
    ----------
    request : PlanRequest
        The question, the guarantee and the budget.
    planner : Planner, optional
        The cache that is shared with other calls.
    similar_ratio : float
        The ratio up to which errors are treated as equal; then fewer bytes decide.

    Returns
    -------
    Choice
        The plan with its certificate, the alternatives and the reason.

    Raises
    ------
    InfeasibleError
        If no plan keeps the guarantee. The message states what each protocol would need.
    """
    planner = planner or Planner()
    found = keep_distinct(planner.candidates(request, smaller=True).found)
    whole, infeasible = planner.candidates(request)
    ranked = ((_rank(one, request.count), partial(_return_candidate, one)) for one in found)
    best, over = planner.choose_least(ranked, similar_ratio)
    missed = [Infeasible(one.protocol, _OVER_BUDGET_REASON) for one in over]
    if best is not None:
        plan, taken = best
        others = tuple(one for one in found if one is not taken and one not in over)
        fit_smaller = {one.protocol for one in found} - {one.protocol for one in whole}
        lacking = [*(one for one in infeasible if one.protocol not in fit_smaller), *missed]
        why = describe_choice(request, plan, others, lacking)
        return Choice(plan, others, tuple(lacking), why, request.count)
    needs = "; ".join(f"{one.protocol} needs {one.needs}" for one in (*infeasible, *missed))
    asked = "any text" if request.question.hashed else pluralize(request.question.bins, "bin")
    raise InfeasibleError(
        "plan",
        expected=f"a plan with epsilon {request.guarantee.epsilon:g} and delta "
        f"{request.guarantee.delta:g} "
        f"for {pluralize(request.users, 'user')} and {asked}",
        got=f"none within a budget of {describe_budget(request)}"
        + " and mixes that draw fakes" * request.mixes_draw,
        do=". ".join(filter(None, [_too_few_advice(request), needs]))
        or (
            f"choose another --protocol for records of kind {request.question.kind}"
            if request.protocol
            else "raise epsilon or delta, or the budget"
        ),
    )


def choose_by_estimates(request: PlanRequest, planner: Planner) -> Plan | None:
    """Return the plan that ``choose`` would most likely return, in less time.

    Parameters
    ----------
    request : PlanRequest
        The question, the guarantee and the budget.
    planner : Planner
        The cache that is shared with other calls.

    Returns
    -------
    Plan or None
        A proved plan: that of the best candidate, or of the next one if the best is not proved.
        None if no candidate can be proved.
    """
    found: list[Ranked] = []
    for budgeted in _vary_budgets(request):
        quick = planner.evaluations(replace(budgeted, accept_probable=True), sketched=True)
        sketches = planner.evaluations(budgeted, sketched=True)
        closely = planner.evaluations(budgeted)
        for exists, sketch, evaluate in zip(quick, sketches, closely, strict=True):
            if isinstance(exists(), Candidate) and isinstance(about := sketch(), Candidate):
                found.append((_rank(about, request.count), evaluate))
    best, _ = planner.choose_least(sorted(found, key=lambda one: one[0]))
    return None if best is None else best[0]


def _vary_budgets(
    request: PlanRequest, smaller: tuple[float, ...] = _BUDGETS
) -> Iterator[PlanRequest]:
    """Yield the request, then copies of it with smaller budgets, the smallest budget first.

    In addition to the budgets in ``smaller``, a budget of one message for each part is tried, which
    allows no fakes.
    """
    limit = to_fraction(request.messages_per_user)
    others = {
        to_fraction(one) for one in (*smaller, len(list_encodings(request.question)[-1].parts))
    }
    for most in [limit, *sorted(one for one in others if one < limit)]:
        yield replace(request, messages_per_user=most)


def keep_distinct(found: Iterable[Candidate]) -> list[Candidate]:
    """Return the best candidate of each protocol, cover and encoding, sorted by ``_rank``.

    The best candidate has the smallest error. If errors are equal, it sends the fewest messages.
    """
    kept: dict[tuple[str, Cover], Candidate] = {}
    for one in sorted(found, key=lambda one: one.cost):
        # The number of repeats in a name does not make it another option.
        kept.setdefault((re.sub(r"\d+", "", one.name), one.cover), one)
    return sorted(kept.values(), key=lambda one: _rank(one, one.request.count))


def pareto_front(request: PlanRequest, planner: Planner | None = None) -> list[Candidate]:
    """Return the candidates within the budget that no other candidate beats, by increasing error.

    A candidate beats another one if its error, messages and bytes are all at most as large, and one
    of them is smaller. Smaller budgets are tried as well, because fakes are a cost. The errors do
    not include coins and caps; a plan's errors are about a thousandth larger.

    Parameters
    ----------
    request : PlanRequest
        The question, the guarantee and the budget.
    planner : Planner or None
        A planner to share between calls; None for a new one.
    """
    options = (planner or Planner()).candidates(request, smaller=True).found
    by_cost = {option.cost: option for option in reversed(options)}
    distinct = [
        option
        for cost, option in by_cost.items()
        if not any(
            other != cost and all(a <= b for a, b in zip(other, cost, strict=True))
            for other in by_cost
        )
    ]
    return sorted(distinct, key=lambda option: option.error)


def _rank(one: Candidate | Plan, count: int) -> tuple[bool, float]:
    """Return the sort key of a candidate or plan: whether people draw the fakes, and the error.

    Plans whose fakes every mix draws have False as first value, so they come first. The error is
    that of a bin with ``count`` people.
    """
    return one.cover is not Cover.MIXES, one.error_of(count)


def _return_candidate(one: Candidate) -> Result:
    return one


def _candidates(request: PlanRequest, results: list[Result]) -> Candidates:
    """Separate results into candidates by increasing error, and infeasible protocols.

    If the request names a protocol that has no result, this protocol is infeasible, too.
    """
    if request.protocol and not any(results):
        needs = f"another question: {KIND_LIMITS[request.question.kind]}"
        if request.protocol not in dict(PROTOCOLS):
            needs = "another protocol: it has a price and no plans"
        elif request.question.hashed is not None:
            needs = "a list of labels: it has no open domain"
        elif request.protocol == "flip":  # It can encode every record but a single bit.
            needs = "several bits: one alone is flipped by single-bit"
        results.append(Infeasible(request.protocol, needs))
    options = [result for result in results if isinstance(result, Candidate)]
    infeasible = [result for result in results if isinstance(result, Infeasible)]
    options.sort(key=lambda option: option.error)
    return Candidates(tuple(options), tuple(dict.fromkeys(infeasible)))


def _evaluate_safely(name: str, evaluate: Callable[[], Result]) -> Result:
    """Return the result of ``evaluate``, or ``Infeasible`` if it would take too long to compute.

    ``name`` is the name of the protocol.
    """
    try:
        return evaluate()
    except EffortError as error:
        return Infeasible(name, f"less work ({error})")


def _is_replacement_no_better(found: Result | None, error: float) -> bool:
    """Return whether a result is a candidate that replaces values, with at least this error."""
    if not isinstance(found, Candidate) or found.parts[0].replaced is None:
        return False
    return found.error >= error


def _estimate_products(found: Candidate) -> int:
    """Estimate the number of products that are computed for one value of delta.

    Return 0 for a candidate that does not send whole flipped bit vectors.
    """
    part = found.parts[0]
    if part.most_set is not None or part.bins == 1 or part.threshold is None:
        return 0
    return vectors.estimate_products(found.crowd, part.bins, part.threshold)


def _list_evaluations(
    request: PlanRequest, accountant: Accountant, *, again: bool
) -> Iterator[tuple[str, Callable[[], Result]]]:
    """Yield the protocol's name and a function that computes the result, for each encoding.

    If ``again`` is true, whole bit vectors that are sent several times are included.
    """
    every = list_encodings(request.question)
    for encoding in every:
        for name, made in PROTOCOLS:
            fits = request.question.hashed is None or made in OPEN_DOMAIN_EVALUATIONS
            fits = fits and (request.slots is None or made in SLOTS_EVALUATIONS)
            if fits and request.protocol in (None, name):
                yield name, partial(made, request, encoding, accountant)
    if request.protocol in (None, flip.NAME) and request.slots is None:
        for times in _repeats(request) if again else ():
            yield flip.NAME, partial(flip.candidate_by_people, request, every[0], accountant, times)


def _repeats(request: PlanRequest) -> list[int]:
    """Return the numbers of repeats to try for a bit vector that is sent whole several times.

    The list is empty if the budget allows a separate message for every bit, because separate bits
    have a smaller standard error. It is also empty if the budget allows no repeats.
    """
    bits = request.question.bins if request.question.kind is Kind.BITS else 1
    affordable = math.floor(request.messages_per_user)
    return [affordable] if 1 < affordable < bits else []


def _too_few_advice(request: PlanRequest) -> str:
    """Return a sentence if the crowd is too small for the guarantee in any model of trust.

    The crowd is too small if even a trusted server would publish counts with 95 % intervals that
    are as wide as the crowd. For a larger crowd, the sentence is empty.
    """
    guarantee = request.guarantee
    error = central_error(request.question, guarantee.epsilon, guarantee.delta, request.collections)
    if 4.0 * error < request.users:
        return ""
    return (
        f"{request.users:,} people are too few: even a server that sees every answer would have "
        f"a standard error of {format_error(error)}"
    )

"""The option of the smallest standard error among all protocols, with the reason."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from mixtally.errors import EffortError, InfeasibleError
from mixtally.ground.fixed import decimal
from mixtally.ground.memo import Memo
from mixtally.planner.any_option import fewest_of
from mixtally.planner.clear_options import clear_hashed, clear_shaped, clear_uniform
from mixtally.planner.flip_options import Result, flip, flip_blank, single_bit
from mixtally.planner.options import Choice, Infeasible, Likely, PlanOption
from mixtally.planner.reason import budget, reason
from mixtally.planner.request import PlanRequest
from mixtally.planner.uniform_flips import flip_uniform
from mixtally.privacy.accountant import Accountant
from mixtally.privacy.divergence import vectors
from mixtally.records.encodings import Encoding, encodings
from mixtally.records.mechanism import BitFlips
from mixtally.records.question import Kind

KINDS = {
    Kind.ONE: "it cannot hold one value of many",
    Kind.SET: "it cannot hold sets",
    Kind.BITS: "it cannot hold free bits in one message",
}
OPTIONS: dict[str, Callable[[PlanRequest, Encoding, Accountant], Result]] = {
    "clear-shaped": clear_shaped,
    "clear-uniform": clear_uniform,
    "flip-blank": flip_blank,
    "single-bit": single_bit,
    "flip": flip,
}
"""The plan option of every protocol, in this order where errors are equal."""

Survey = tuple[tuple[PlanOption, ...], tuple[Infeasible, ...]]
_MOST_BYTES = 16_000_000
_DEAR, _VERY_DEAR = 50_000, 1_000_000
"""Products for one point of a curve, about a millisecond and ten; a search takes hundreds of them.
"""
_BUDGETS = (1, 1.01, 1.1, 1.5, 2, 3, 5, 10, 30, 100, 300, 1000)


class Planner:
    """What is computed while requests are looked at: every number once, forgotten with it.

    Hand one to all calls about requests that are alike.
    """

    def __init__(self) -> None:
        self.accountant = Accountant()
        self._sketch = self.accountant.sketch()
        self._memo = Memo(_MOST_BYTES)

    def results(
        self, request: PlanRequest, *, sketched: bool = False, again: bool = True
    ) -> Iterator[Result]:
        """What every protocol and encoding comes to, one by one; what takes too long says so.

        Where it is ``sketched`` nothing is proved, and there is no plan. ``again`` is whether whole
        vectors are sent several times as well.
        """
        for look in self._every(request, sketched=sketched, again=again):
            yield look()

    def best(self, request: PlanRequest) -> PlanOption | None:
        """The option of what most likely is the least error for the request's budget and smaller
        ones; the next one where that is not proved.
        """
        found: list[tuple[float, Callable[[], Result]]] = []
        for budgeted in _budgeted(request):
            likely = self.results(replace(budgeted, likely=True), sketched=True)
            sketches = self._every(budgeted, sketched=True)
            looks = self._every(budgeted, sketched=False)
            for one, sketch, look in zip(likely, sketches, looks, strict=True):
                if isinstance(one, Likely) and isinstance(sketched := sketch(), Likely):
                    found.append((sketched.standard_error, look))
        proved = (look() for _, look in sorted(found, key=lambda one: one[0]))
        return next((option for option in proved if isinstance(option, PlanOption)), None)

    def _every(
        self, request: PlanRequest, *, sketched: bool, again: bool = True
    ) -> Iterator[Callable[[], Result]]:
        """What is to be looked at: every look is taken once."""
        accountant = self._sketch if sketched else self.accountant
        for place, (name, look) in enumerate(_looks(request, accountant, again=again)):
            key = (request, place, sketched, again)
            yield partial(self._memo.get, key, partial(_result, name, look))

    def within(self, request: PlanRequest) -> list[PlanOption]:
        """Every option for the request's budget and, after these, for smaller ones.

        The choice is the best of them and the front is what none of them beats. Where bits are sent
        one by one, whole vectors err more however often they are sent for less: where their price
        is dear, as in a crowd that is tiny to them, that is not tried, nor is it where bits do not
        fit and it is very dear.
        """
        whole, *smaller = _budgeted(request)
        found = [*self.survey(whole)[0]]
        split = any(len(option.plans) > 1 for option in found)
        most = _DEAR if split else _VERY_DEAR
        again = max(map(_products, found), default=0) <= most
        return found + [one for less in smaller for one in self.survey(less, again=again)[0]]

    def likely(self, request: PlanRequest) -> bool:
        """Whether there most likely is anything to choose with the whole budget, or without fakes;
        nothing of it is proved.
        """
        looked = (
            one
            for budgeted in _budgeted(replace(request, likely=True), smaller=(1,))
            for one in self.results(budgeted, sketched=True)
        )
        return any(isinstance(one, Likely) for one in looked)

    def outlook(self, request: PlanRequest) -> Likely | None:
        """The option of least error for the whole budget that there most likely is."""
        looked = self.results(request, sketched=True)
        found = [one for one in looked if isinstance(one, Likely)]
        return min(found, key=lambda one: one.standard_error, default=None)

    def survey(self, request: PlanRequest, *, again: bool = True) -> Survey:
        """Every option for the whole budget from good to bad, and what does not fit; ``again`` as
        ``results`` has it.
        """
        found: Survey = self._memo.get(
            (request, again),
            lambda: _survey(request, list(self.results(request, again=again))),
        )
        return found


def choose(request: PlanRequest, planner: Planner | None = None) -> Choice:
    """The plan of least standard error that keeps the guarantee within the budget.

    Smaller budgets are tried as well: where crowds are tiny or epsilon is large, a fake brings more
    noise than it hides.

    Raises InfeasibleError when none does; its message names what would.
    """
    planner = planner or Planner()
    options, (whole, infeasible) = _distinct(planner.within(request)), planner.survey(request)
    if not options:
        raise InfeasibleError(
            "plan",
            wanted=f"epsilon {request.guarantee.epsilon:g} and delta {request.guarantee.delta:g} "
            f"for {request.users:,} users and {request.question.bins:,} bins",
            got=f"a budget of {budget(request)}"
            + " and a mix that draws fakes" * request.mix_fakes,
            do="; ".join(f"{m.protocol} needs {m.needs}" for m in infeasible)
            or f"choose another --protocol for records of kind {request.question.kind}",
        )
    best, *others = options
    fit_smaller = {o.plan.protocol for o in options} - {o.plan.protocol for o in whole}
    lacking = [one for one in infeasible if one.protocol not in fit_smaller]
    return Choice(best, tuple(others), tuple(lacking), reason(request, best, others, lacking))


def _budgeted(request: PlanRequest, smaller: tuple[float, ...] = _BUDGETS) -> Iterator[PlanRequest]:
    """The request, then the same with ``smaller`` budgets and that of a message for each part."""
    limit = decimal(request.messages_per_user)
    others = {decimal(one) for one in (*smaller, len(encodings(request.question)[-1].parts))}
    for most in [limit, *sorted(one for one in others if one < limit)]:
        yield replace(request, messages_per_user=most)


def _distinct(options: list[PlanOption]) -> list[PlanOption]:
    """The best of each protocol and encoding, from good to bad; the cheapest of several as good."""
    kept: dict[tuple[str, bool, bool, bool], PlanOption] = {}
    for option in sorted(options, key=lambda option: option.cost):
        plan = option.plan
        again = plan.mechanism.repeats > 1
        hashed = plan.question.hashed is not None
        kept.setdefault((plan.protocol, len(option.plans) > 1, hashed, again), option)
    return list(kept.values())


def _survey(request: PlanRequest, results: list[Result]) -> Survey:
    if request.protocol and not any(results):
        needs = f"another question: {KINDS[request.question.kind]}"
        if request.protocol == "flip":  # the only record it cannot hold
            needs = "several bits: one alone is flipped by single-bit"
        results.append(Infeasible(request.protocol, needs))
    options = [result for result in results if isinstance(result, PlanOption)]
    infeasible = [result for result in results if isinstance(result, Infeasible)]
    options.sort(key=lambda option: option.standard_error)
    return tuple(options), tuple(dict.fromkeys(infeasible))


def _result(name: str, look: Callable[[], Result]) -> Result:
    """What one look comes to; what takes too long says so."""
    try:
        return look()
    except EffortError as error:
        return Infeasible(name, f"less work ({error})")


def _products(option: PlanOption) -> int:
    """How many products a point of the curve of whole vectors takes; 0 for others."""
    m = option.mechanism
    if not isinstance(m, BitFlips) or m.max_set is not None or m.bins == 1:
        return 0
    return vectors.products(m.crowd, m.bins, m.threshold)


def _looks(
    request: PlanRequest, accountant: Accountant, *, again: bool
) -> Iterator[tuple[str, Callable[[], Result]]]:
    """What is to be looked at, by name."""
    every = encodings(request.question)
    for encoding in every:
        for name, made in OPTIONS.items():
            if request.protocol in (None, name):
                yield name, partial(made, request, encoding, accountant)
    if request.protocol in (None, "clear-uniform") and not request.mix_fakes:
        yield "clear-uniform", partial(clear_hashed, request, every[0], accountant)
    if request.protocol in (None, "flip"):
        for times in _repeats(request) if again else ():
            yield "flip", partial(flip, request, every[0], accountant, times)
    if request.protocol in (None, "flip-uniform"):
        for encoding in every:
            yield "flip-uniform", partial(flip_uniform, request, encoding, accountant)
    if request.protocol is not None and request.protocol not in ("flip-uniform", *OPTIONS):
        for encoding in every:
            yield (
                request.protocol,
                partial(fewest_of, request.protocol, request, encoding, accountant),
            )


def _repeats(request: PlanRequest) -> list[int]:
    """As often as the budget allows, while there are not messages enough to send every bit alone.

    Splitting a vector has a smaller standard error than sending it whole as often: then there is
    nothing to try.
    """
    bits = request.question.bins if request.question.kind is Kind.BITS else 1
    affordable = math.floor(request.messages_per_user)
    return [affordable] if 1 < affordable < bits else []

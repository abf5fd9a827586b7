"""Standard errors of plans for typical requests, of published formulas and of the central model.

A published formula may use the whole budget of messages and any number of bytes. A record of k
parts, and T collections, have (epsilon / kT, delta / kT) each, or the better share of advanced
composition. Formulas whose promise is known to be false are left out, or checked where they are
(``lab.formulas.exact_fakes_per_bin``). The central model is one server that receives all answers
and adds noise to the counts.
"""

import math
import statistics
import time
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import mixtally
from bench.clock import QUICK
from bench.row import BenchmarkRow, build_row
from mixtally.accounting.baselines import (
    central_error,
    central_standard_error,
    gaussian_standard_error,
)
from mixtally.errors import ParameterError
from mixtally.lab.formulas import exact_fakes_per_bin, fakes_per_bin, notes, shuffle_bounds
from mixtally.model.plan import Plan
from mixtally.model.question import MOST_BINS, Kind
from mixtally.planning.rounding_grid import mean_error

_DELTA, _SEED = 1e-6, "0f" * 16
_PRIME = (1 << 61) - 1
"""The prime of hashes, so large that two values have the same hash as rarely as possible."""
_SECONDS, _PROCESSOR = 0.5, "AMD EPYC"
"""The target for the median CPU seconds of a plan, and the processor on which it was set."""
_SIGNED = "signed fakes err less, with more messages (Ghazi and others, 2020)"
_SHARES = "sums by shares err less, with more messages (Balle and others, 2020)"
_MOST_SIGNED = 1000
"""The largest number of bins for which signed fakes are few enough to be sent."""


class Case(NamedTuple):
    """A request: its name, and the arguments of ``mixtally.plan``."""

    what: str
    arguments: dict[str, Any]


def _list_cases() -> list[Case]:
    """Return the requests."""
    people: dict[str, Any] = {"epsilon": 1.0, "users": 10**6}
    yes_no: dict[str, Any] = {"bits": 1}
    word: dict[str, Any] = {"open_domain": True, "hash_seed": _SEED}
    found: list[tuple[str, dict[str, Any]]] = [
        *((f"yes/no, epsilon {one:g}", yes_no | people | {"epsilon": one}) for one in (0.1, 1, 8)),
        ("yes/no, 10^4 people", yes_no | people | {"users": 10**4}),
        ("yes/no, fakes of a mix", yes_no | people | {"mix_fakes": True}),
        ("yes/no, 3 hops", yes_no | people | {"hops": 3}),
        ("yes/no, 52 times", yes_no | people | {"collections": 52}),
        ("yes/no, 365 times, a mix", yes_no | people | {"collections": 365, "mix_fakes": True}),
    ]
    for bins in (10, 1000, 100_000):
        found += [
            (f"{bins:,} bins, epsilon {one:g}", people | {"bins": bins, "epsilon": one})
            for one in (0.1, 1.0, 8.0)
        ]
        found.append((f"{bins:,} bins, fakes of a mix", people | {"bins": bins, "mix_fakes": True}))
    found += [
        ("1,000 bins, one message", people | {"bins": 1000, "messages_per_user": 1}),
        ("1,000 bins, 12 times", people | {"bins": 1000, "collections": 12}),
        ("1,000 bins, 10^4 people", people | {"bins": 1000, "users": 10**4}),
    ]
    for power in (4, 6, 8, 9, 10):
        found.append((f"open domain, 10^{power} people", people | word | {"users": 10**power}))
    found += [
        ("open domain, epsilon 0.1", people | word | {"epsilon": 0.1}),
        ("open domain, epsilon 8", people | word | {"epsilon": 8.0}),
        ("open domain, 12 times", people | word | {"collections": 12}),
        ("open domain, fakes of a mix", people | word | {"mix_fakes": True}),
        ("sets of 5 of 20 bins", people | {"bins": 20, "max_set": 5}),
        (
            "sets of 5 of 20, one message",
            people | {"bins": 20, "max_set": 5, "messages_per_user": 1},
        ),
        ("sets of 3 of 1,000 bins", people | {"bins": 1000, "max_set": 3}),
        ("sets of 10 of 10^5 bins", people | {"bins": 100_000, "max_set": 10}),
        ("sets of 16 of 10^5 bins", people | {"bins": 100_000, "max_set": 16}),
        ("sets of 5 of 20, a mix", people | {"bins": 20, "max_set": 5, "mix_fakes": True}),
        ("20 bits", people | {"bits": 20}),
        ("20 bits, one message", people | {"bits": 20, "messages_per_user": 1}),
        ("20 bits, fakes of a mix", people | {"bits": 20, "mix_fakes": True}),
        ("attributes of 10, 20, 5", people | {"attributes": (10, 20, 5)}),
        (
            "attributes of 10, 20, 5, one message",
            people | {"attributes": (10, 20, 5), "messages_per_user": 1.001},
        ),
        *((f"mean, epsilon {one:g}", people | {"number": (0.0, 1.0), "epsilon": one})
          for one in (0.1, 1.0, 8.0)),
    ]  # fmt: skip
    return [Case(what, {"delta": _DELTA} | arguments) for what, arguments in found]


CASES = _list_cases()


def rows() -> Iterator[BenchmarkRow]:
    """Yield a row for each request as it is planned for, and one for the time."""
    taken = []
    for what, arguments in CASES[:: 9 if QUICK else 1]:
        begun = time.process_time()
        plan = mixtally.plan(**arguments).record
        taken.append(time.process_time() - begun)
        yield _compare(what, plan, float(arguments.get("messages_per_user", 0)))
    median = statistics.median(taken)
    what = f"plans for {len(taken)} typical requests, median"
    of = f"of {_SECONDS:g} s, set on an {_PROCESSOR}"
    yield build_row(what, f"{median:.3f} s", of, _SECONDS / median, 1.0)


def _compare(what: str, plan: Plan, budget: float) -> BenchmarkRow:
    """Return the row of one plan; ``budget`` is 0 for the default number of messages."""
    ours, central, published = plan.standard_error, _central(plan), _best_published(plan, budget)
    if plan.grid is not None:
        ours = mean_error(plan, plan.grid) * plan.users
    measured = f"{ours:,.4g} by {plan.name}; central {central:,.3g}"
    if ours > 1.5 * central and plan.question.bins <= _MOST_SIGNED:
        measured += f"; {_SIGNED if plan.grid is None else _SHARES}"
    if published is None:
        return BenchmarkRow(what, measured, "no published formula fits the budget")
    name, error = published
    return build_row(what, measured, f"times less than {name} ({error:,.4g})", error / ours, 1.0)


def _central(plan: Plan) -> float:
    """Return the error of the central model: of a count, or of a sum of numbers in [0, 1]."""
    epsilon, delta, many = plan.guarantee.epsilon, plan.guarantee.delta, plan.collections
    if plan.grid is None:
        return central_error(plan.question, epsilon, delta, many)
    laplace = central_standard_error(epsilon / many, 1.0)
    return min(laplace, gaussian_standard_error(epsilon, delta, math.sqrt(many)))


def _best_published(plan: Plan, budget: float) -> tuple[str, float] | None:
    """Return the name of the best published formula within the budget, and its error."""
    question, streams, bins = plan.question, 1, plan.question.bins
    if question.kind is Kind.BITS:
        streams, bins = question.bins, 1
    elif question.attributes is not None:
        streams, bins = len(question.attributes), max(question.attributes)
    elif question.max_set > 1:
        streams = question.max_set
    is_set = question.max_set > 1 and question.attributes is None
    budget = budget or (streams + 1 if is_set else 2 * streams)
    if budget < streams:
        return None
    fakes = round(plan.users * (budget / streams - 1.0))
    found: list[tuple[str, float]] = []
    for epsilon, delta in _shares(plan, streams * plan.collections):
        found += _errors(epsilon, delta, plan.users, fakes, bins, hops=_drawing_hops(plan))
    if not found:
        return None
    name, error = min(found, key=lambda one: one[1])
    if plan.grid is not None:
        rounding = plan.grid.rounding_variance(plan.users)
        return name, math.sqrt(error**2 * plan.grid.spread + rounding)
    return name, error * (math.sqrt(streams) if is_set else 1.0)


def _drawing_hops(plan: Plan) -> int:
    """Return how many hops draw fakes."""
    return plan.hops if plan.parts[0].by_mixes else 0


def _shares(plan: Plan, many: int) -> list[tuple[float, float]]:
    """Return epsilon and delta of each of ``many`` releases, by both theorems of composition.

    Source: Dwork, Rothblum, Vadhan, Boosting and Differential Privacy (2010), Theorem III.3.
    """
    epsilon, delta = plan.guarantee.epsilon, plan.guarantee.delta
    low, high = 0.0, epsilon
    for _ in range(60):
        one = 0.5 * (low + high)
        total = one * math.sqrt(2.0 * many * math.log(2.0 / delta)) + many * one * math.expm1(one)
        low, high = (one, high) if total <= epsilon else (low, one)
    return [(epsilon / many, delta / many), (low, delta / (2.0 * many))]


def _errors(
    epsilon: float, delta: float, users: int, fakes: int, bins: int, *, hops: int
) -> Iterator[tuple[str, float]]:
    """Yield the error of an empty bin for each formula that applies; ``bins`` is 1 for a bit."""

    def flipped(q: float, sent: int) -> float:
        return math.sqrt(sent * q * (1.0 - q)) / (1.0 - 2.0 * q) if q < 0.5 else math.inf

    every = {
        "clones": lambda: flipped(shuffle_bounds.clones(epsilon, delta, users), users),
        "blanket": lambda: flipped(shuffle_bounds.blanket(epsilon, delta, users), users),
        "cheu-zhilyaev": lambda: flipped(
            shuffle_bounds.cheu_zhilyaev(epsilon, delta, fakes), users + fakes
        ),
        "poisson": lambda: _affordable(
            fakes_per_bin.poisson(epsilon, delta), 1.0, max(bins, 2), fakes
        ),
        "negative-binomial": lambda: _affordable(
            fakes_per_bin.negative_binomial(epsilon, delta),
            1.0 / (1.0 - fakes_per_bin.decay(epsilon)), max(bins, 2), fakes,
        ),
        "luo-wang-yi": lambda: _hashed(
            _binomial_fakes(epsilon, delta, users), users, fakes, bins
        ),
    }  # fmt: skip
    if bins == 1:
        every["notes-4.48"] = lambda: flipped(notes.single_bit(epsilon, delta, users), users)
    else:
        every["notes-5.10"] = lambda: _affordable(
            notes.clear_uniform(epsilon, delta, bins) / bins, 1.0, bins, fakes
        )
    if hops and bins <= MOST_BINS:
        every["sageo"] = lambda: _two_sided(epsilon, delta) * math.sqrt(hops)
    for name, compute in every.items():
        try:
            error = compute()
        except ParameterError:  # outside of what the theorem covers
            continue
        if math.isfinite(error):
            yield name, error


@cache
def _binomial_fakes(epsilon: float, delta: float, users: int) -> float:
    """Return the fakes per bin of Luo, Wang, Yi; infinitely many where these do not hide enough.

    Their constant is for small epsilon: at 8 a bin has none too often.
    """
    found = fakes_per_bin.luo_wang_yi(epsilon, delta, users)
    exact = exact_fakes_per_bin.one_hot_delta(exact_fakes_per_bin.binomial(users, found), epsilon)
    return found if exact.upper <= delta else math.inf


def _affordable(per_bin: float, spread: float, bins: int, fakes: int) -> float:
    """Return the error of fakes drawn in every bin, whose variance is ``spread`` times their mean.

    Infinite if the budget has fewer fakes.
    """
    return math.sqrt(per_bin * spread) if per_bin * bins <= fakes else math.inf


def _hashed(per_bin: float, users: int, fakes: int, bins: int) -> float:
    """Return the error with binomial fakes, and with hashes if there are too few for all bins."""
    if not math.isfinite(per_bin):
        return math.inf
    if per_bin * max(bins, 2) <= fakes:
        return math.sqrt(per_bin * (1.0 - per_bin / users))
    buckets = math.floor(fakes / per_bin)
    return math.inf if buckets < 2 else fakes_per_bin.hashed_error(users, per_bin, buckets, _PRIME)


def _two_sided(epsilon: float, delta: float) -> float:
    """Return the standard deviation of the fakes of a bin of SAGeo-Shuffle."""
    mode = round(fakes_per_bin.two_sided(epsilon, delta))
    left, right = fakes_per_bin.sides(epsilon, 1.0)
    reach = mode + math.ceil(40.0 / -math.log(right))
    weights = [left ** (mode - k) if k < mode else right ** (k - mode) for k in range(reach)]
    total = math.fsum(weights)
    mean = math.fsum(k * weight for k, weight in enumerate(weights)) / total
    squares = math.fsum((k - mean) ** 2 * weight for k, weight in enumerate(weights)) / total
    return math.sqrt(squares)

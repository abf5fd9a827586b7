"""The coverage of confidence intervals: every mechanism and kind of number, in simulated rounds.

As a part of ``python -m bench`` it simulates three crowds for each mechanism under each of ten
guarantees, and starts no further mechanism after five minutes.

    python -m bench.coverage                # ten crowds per mechanism and guarantee
    python -m bench.coverage --crowds 100 --json held.json
    python -m bench.coverage --epsilon 2 --delta 1e-3 --only "k-ary"
"""

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from bench.row import BenchmarkRow, build_row
from mixtally.errors import InfeasibleError, ParameterError
from mixtally.lab.data.population import Population
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.open_words import count_true_words, hash_words
from mixtally.lab.simulation.rounding import round_crowd
from mixtally.lab.simulation.run import simulate_release
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.lab.simulation.truth import Truth, add_comparisons, truth_of
from mixtally.model.contract import Plan
from mixtally.model.estimates import Figures
from mixtally.model.grid import Grid
from mixtally.model.guarantee import Guarantee
from mixtally.model.hashing import draw_seed
from mixtally.model.question import Kind, Question, make_open_question
from mixtally.model.result import Result
from mixtally.planning import Planner, PlanRequest, choose
from mixtally.primitives.chance import Chance
from mixtally.protocol.encode.hashed import look_up_words
from mixtally.protocol.estimate.analysis import Analysis
from mixtally.protocol.estimate.change import TalliedPart, estimate_change
from mixtally.protocol.estimate.conclude.set_sizes import MEAN
from mixtally.protocol.estimate.received import reconcile_parts

LEVEL = 0.95
"""The stated confidence level."""
GUARANTEE = Guarantee(epsilon=2.0, delta=1e-3)
EPSILONS, DELTAS = (0.5, 1.0, 2.0, 4.0, 8.0), (1e-3, 1e-6)
USERS, BINS, EACH, FEW = 600, 24, 8, 3
"""The people and the bins. ``EACH`` bins have many people, as many have ``FEW`` people each, and
all others are empty.
"""
KINDS = (
    *("0", "few", "many", "all at once", "mean", "quantiles", "moments", "shares"),
    *("mean size", "sizes", "sizes at once", "not listed", "differences", "differences at once"),
    *("changes", "changes at once"),
)
"""The kinds of intervals."""
SECONDS, CROWDS, ENOUGH = 300.0, 3, 100
"""Limits as a part of ``bench``: the seconds after which no mechanism is started, the crowds per
mechanism, and the fewest intervals of a kind that is named as an extreme.
"""
Held = Counter[tuple[str, bool]]
"""The number of intervals by (kind, whether the interval contains the truth)."""


@dataclass(frozen=True, slots=True)
class CoverageCase:
    """A mechanism and the question that it answers.

    ``asked`` has the fields of the plan request that differ from the usual ones. ``kind`` is one,
    set, numbers, words or sets of words.
    """

    asked: dict[str, Any]
    kind: str = "one"
    bins: int = BINS


ALONE: dict[str, Any] = {"messages_per_user": 1.0}
MIXES: dict[str, Any] = {"mix_fakes": True}
CASES = {
    "clear-uniform": CoverageCase({"protocol": "clear-uniform", "over_planes": False}),
    "planes": CoverageCase({"protocol": "clear-uniform"}, bins=300),
    "planes of mixes": CoverageCase({"protocol": "clear-uniform", "hops": 3}, bins=300),
    "Laplace": CoverageCase({"protocol": "clear-shaped", "hops": 2}),
    "Gaussian": CoverageCase({"protocol": "clear-shaped", "collections": 40, **MIXES}),
    "k-ary": CoverageCase({"protocol": "kary-response", **ALONE}),
    "k-ary among fakes": CoverageCase({"protocol": "kary-response", "messages_per_user": 1.2}),
    "k-ary over planes": CoverageCase({"protocol": "kary-response", **ALONE}, bins=1200),
    "flips": CoverageCase({"protocol": "flip", "count_crowd": True, **ALONE}),
    "flip-blank": CoverageCase({"protocol": "flip-blank"}),
    "flip-blank of mixes": CoverageCase({"protocol": "flip-blank", **MIXES}),
    "flip-uniform": CoverageCase({"protocol": "flip-uniform"}),
    "sets among uniform": CoverageCase({"protocol": "clear-uniform"}, "set"),
    "sets among shapes": CoverageCase({"protocol": "clear-shaped", **MIXES}, "set"),
    "sets flipped": CoverageCase({"protocol": "flip-blank"}, "set"),
    "sets replaced": CoverageCase({"protocol": "kary-response", "messages_per_user": 2.0}, "set"),
    "sets replaced, planes": CoverageCase(
        {"protocol": "kary-response", "messages_per_user": 2.0}, "set", bins=1200
    ),
    "numbers, uniform": CoverageCase({"protocol": "clear-uniform"}, "numbers", bins=8),
    "numbers, k-ary": CoverageCase({"protocol": "kary-response", **ALONE}, "numbers", bins=8),
    "numbers, two points": CoverageCase({"protocol": "clear-shaped", **MIXES}, "numbers", bins=2),
    "numbers, Laplace": CoverageCase({"protocol": "clear-shaped", **MIXES}, "numbers", bins=8),
    "words": CoverageCase({"protocol": "clear-uniform"}, "words"),
    "words of mixes": CoverageCase({"protocol": "clear-uniform", **MIXES}, "words"),
    "words, k-ary": CoverageCase({"protocol": "kary-response", **ALONE}, "words"),
    "words, sets": CoverageCase({"protocol": "clear-uniform"}, "sets of words"),
    "words, sets replaced": CoverageCase(
        {"protocol": "kary-response", "messages_per_user": 2.0}, "sets of words"
    ),
}


def measure_coverage(
    name: str,
    crowds: int,
    level: float,
    planner: Planner,
    seed: int = 1,
    guarantee: Guarantee = GUARANTEE,
) -> Held:
    """Count the intervals of several crowds that contain the truth, under one mechanism.

    Raises
    ------
    InfeasibleError
        If no such plan keeps ``guarantee``.
    """
    case, chance, found = CASES[name], SeededChance(seed), Held()
    plan = plan_case(case, planner, chance, guarantee)
    lab, before = Lab(chance, planner=planner), None
    for _ in range(crowds):
        if case.kind.endswith("words"):
            result, truth = _words(plan, lab, level)
        else:
            crowd = round_crowd(crowd_of(case, chance), plan, chance)
            result = simulate_release(plan, crowd, lab, _analysis(plan.question, level)).result
            truth = truth_of(crowd, result)
        found.update(check_intervals(result, truth, levels=case.kind != "numbers"))
        if before is not None and len(plan.parts) == 1 and plan.question.hashed is None:
            found.update(_compare_changes(before, (result, truth), level))
        before = result, truth
    return found


def _compare_changes(
    earlier: tuple[Result, Truth], later: tuple[Result, Truth], level: float
) -> Iterator[tuple[str, bool]]:
    """Yield whether the intervals of the change between two crowds contain the truth."""
    before, after = (
        TalliedPart(reconcile_parts(one.plan, one.received)[0].mechanism, one.bin_tallies[0])
        for one, _ in (earlier, later)
    )
    step = estimate_change(before, after, level=level)
    true = later[1].counts - earlier[1].counts
    for ends, kind in ((step.individual, "changes"), (step.simultaneous, "changes at once")):
        inside = (ends.lower <= true) & (true <= ends.upper)
        if kind == "changes":
            yield from ((kind, bool(one)) for one in inside)
        else:
            yield kind, bool(inside.all())


def plan_case(
    case: CoverageCase, planner: Planner, chance: Chance, guarantee: Guarantee = GUARANTEE
) -> Plan:
    """Return the plan of one mechanism; raise InfeasibleError if it cannot keep ``guarantee``."""
    questions = {
        "set": Question(name="q", bins=case.bins, kind=Kind.SET, max_set=2),
        "words": make_open_question("q", draw_seed(chance)),
        "sets of words": make_open_question("q", draw_seed(chance), 2),
    }
    grid = Grid(low=0.0, high=100.0, points=case.bins) if case.kind == "numbers" else None
    request = PlanRequest(
        question=questions.get(case.kind, Question(name="q", bins=case.bins)),
        guarantee=guarantee,
        users=USERS,
        grid=grid,
        **case.asked,
    )
    return choose(request, planner).plan


def crowd_of(case: CoverageCase, chance: Chance) -> Population:
    """Return the records of a crowd: many people in the first bins, then few, then nobody."""
    people = np.arange(USERS, dtype=np.int64)
    rare = people < EACH * FEW
    if case.kind == "set":
        bits = np.zeros((USERS, case.bins), dtype=np.uint8)
        bits[people[people % 5 > 0], (people % EACH)[people % 5 > 0]] = 1
        bits[people[rare], EACH + people[rare] % EACH] = 1
        question = Question(name="q", bins=case.bins, kind=Kind.SET, max_set=2)
        return Population(question, np.packbits(bits, axis=1, bitorder="little"))
    question = Question(name="q", bins=case.bins)
    if case.kind == "numbers":
        drawn = chance.words(USERS).astype(np.float64) / 2.0**64
        return Population(question, np.zeros(USERS, np.int64), values=100.0 * drawn**2)
    return Population(question, np.where(rare, EACH + people % EACH, people % EACH))


def _analysis(question: Question, level: float) -> Analysis:
    """Return an analysis that also compares pairs of frequent, rare and empty bins."""
    places = [first + place for first in (0, EACH, 2 * EACH) for place in range(2)]
    names = tuple(question.label(place) for place in places if place < question.bins)
    return Analysis(level=level, compared=names)


def _words(plan: Plan, lab: Lab, level: float) -> tuple[Result, Truth]:
    """Return the result and the truth of a round with words.

    Half of the people have listed words, a few of them rare ones; the others have words of their
    own. In sets, most people also have a listed word, and some have none.
    """
    people = np.arange(USERS)
    listed = np.where(people < EACH * FEW, EACH + people % EACH, people % EACH)
    codes = np.where(people < USERS // 2, listed, BINS + people % 50)
    labels = tuple(f"word {place}" for place in range(BINS + 50))
    asked = Question(name="q", bins=len(labels), labels=labels)
    if plan.question.kind is Kind.SET:
        asked = Question(name="q", bins=len(labels), labels=labels, kind=Kind.SET, max_set=2)
        codes = np.stack([codes, np.where(people % 3 > 0, (listed + 1) % EACH, -1)], axis=1)
        codes[people % 7 == 0] = -1
    crowd = Population(asked, codes)
    some = look_up_words(plan.question, labels[:BINS])
    expected = replace(_analysis(crowd.question, level), listed=some)
    result = simulate_release(plan, hash_words(crowd, plan.question), lab, expected).result
    return result, add_comparisons(count_true_words(crowd, some), result)


def check_intervals(result: Result, truth: Truth, *, levels: bool) -> Iterator[tuple[str, bool]]:
    """Yield the kind of every interval of a result, and whether it contains the truth."""
    each, together = result.estimate.individual, result.estimate.simultaneous
    inside = (each.lower <= truth.counts) & (truth.counts <= each.upper)
    for count, one in zip(truth.counts.tolist(), inside.tolist(), strict=True):
        yield ("0" if not count else "few" if count <= FEW or not levels else "many"), one
    every = (together.lower <= truth.counts) & (truth.counts <= together.upper)
    yield "all at once", bool(every.all())
    for figures in result.figures:
        yield from _held_figures(figures, truth.figures[figures.name])


def _held_figures(figures: Figures, truth: tuple[float | None, ...]) -> Iterator[tuple[str, bool]]:
    at_once, edge = [], 1e-9
    for place, (row, value) in enumerate(zip(figures.rows, truth, strict=True)):
        assert value is not None
        inside = row.lower - edge <= value <= row.upper + edge
        if figures.name == "others":
            yield "not listed", inside
        elif figures.name in ("sizes", "differences"):
            yield ("mean size" if row.label == MEAN else figures.name), inside
            if row.lower_simultaneous is not None and row.upper_simultaneous is not None:
                at_once.append(row.lower_simultaneous <= value <= row.upper_simultaneous)
        else:
            kinds = ["mean", "mean", "moments", "moments", *["quantiles"] * 5, "shares", "shares"]
            yield kinds[place], inside
    if at_once:
        yield f"{figures.name} at once", all(at_once)


def share_of(found: Held, kind: str) -> tuple[int, int]:
    """Return how many intervals of a kind contain the truth, and their number."""
    return found[kind, True], found[kind, True] + found[kind, False]


def rows() -> list[BenchmarkRow]:
    """Return one row per guarantee: the kinds of intervals with the least and the most coverage.

    Mechanisms and guarantees are taken in a random order. So the time limit does not always exclude
    the same ones.
    """
    every = list(product(product(EPSILONS, DELTAS), CASES))
    random.Random(1).shuffle(every)
    planner, until = Planner(), time.monotonic() + SECONDS
    found = {pair: Held() for pair in product(EPSILONS, DELTAS)}
    played = Counter[tuple[float, float]]()
    for (epsilon, delta), name in every:
        if time.monotonic() > until:
            break
        guarantee = Guarantee(epsilon=epsilon, delta=delta)
        with suppress(InfeasibleError, ParameterError):
            found[epsilon, delta] += measure_coverage(
                name, CROWDS, LEVEL, planner, guarantee=guarantee
            )
        played[epsilon, delta] += 1
    return [_row(pair, held, played[pair]) for pair, held in found.items() if held]


def _row(pair: tuple[float, float], found: Held, mechanisms: int) -> BenchmarkRow:
    """Return the row of one guarantee, over all mechanisms that were simulated."""
    shares = {kind: share_of(found, kind) for kind in KINDS}
    many = sorted((held / of, of, kind) for kind, (held, of) in shares.items() if of >= ENOUGH)
    ends = [f"{share:.3f} of {of:,} ({kind})" for share, of, kind in (many[:1] + many[-1:])]
    held = sum(count for (_, inside), count in found.items() if inside)
    return build_row(
        f"intervals at 95 %, epsilon {pair[0]:g}, delta {pair[1]:g}, {mechanisms} mechanisms",
        " .. ".join(ends),
        "of the stated share",
        held / found.total() / LEVEL,
        0.99,
    )


def main() -> None:
    """Simulate rounds, print a table for each guarantee, and write the counts."""
    parser = argparse.ArgumentParser(prog="bench.coverage", description="Coverage of intervals.")
    parser.add_argument("--crowds", type=int, default=10, help="per mechanism and guarantee")
    parser.add_argument("--level", type=float, default=LEVEL, help="the stated confidence")
    parser.add_argument("--epsilon", type=float, nargs="+", default=EPSILONS)
    parser.add_argument("--delta", type=float, nargs="+", default=DELTAS)
    parser.add_argument("--only", nargs="+", choices=tuple(CASES), default=tuple(CASES))
    parser.add_argument("--json", type=Path, help="write the counts to this file")
    asked = parser.parse_args()
    planner, counted = Planner(), {}
    for epsilon, delta in product(asked.epsilon, asked.delta):
        guarantee, rows = Guarantee(epsilon=epsilon, delta=delta), {}
        head = f"epsilon {epsilon:g}, delta {delta:g}"
        print(f"{head:24}" + "".join(f"{kind:>14}" for kind in KINDS))
        for name in asked.only:
            try:
                found = measure_coverage(
                    name, asked.crowds, asked.level, planner, guarantee=guarantee
                )
            except (InfeasibleError, ParameterError) as refused:
                print(f"{name:24}  infeasible: {type(refused).__name__}", flush=True)
                continue
            rows[name] = {kind: share_of(found, kind) for kind in KINDS}
            shown = [f"{h / of:.3f} of {of}" if of else "" for h, of in rows[name].values()]
            print(f"{name:24}" + "".join(f"{one:>14}" for one in shown), flush=True)
        counted[head] = rows
    if asked.json:
        facts = {"level": asked.level, "crowds": asked.crowds, "held": counted}
        asked.json.write_text(json.dumps(facts, indent=1) + "\n")
        print(f"wrote {asked.json}")


if __name__ == "__main__":
    main()

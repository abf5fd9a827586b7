"""A crowd whose every person randomizes an answer once, keeps it and reports from it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixtally.accounting.divergence.memoized import least_permanent
from mixtally.app.options import option, whole_option
from mixtally.app.outcome import Outcome, Run, outcome_of
from mixtally.errors import ParameterError, in_range
from mixtally.lab.attacks.learned_facts import compute_learned_facts, drop_measured, played_points
from mixtally.lab.data.population import LABELS, Population
from mixtally.lab.memoization import DeviceKey, device_key
from mixtally.lab.simulation.lab import Lab, Provenance
from mixtally.lab.simulation.memoized.counts import MemoizedFindings, TrueAnswers
from mixtally.lab.simulation.memoized.crowd import (
    MemoizedCrowd,
    measure_recoveries,
    memoize_crowd,
    play_reports,
)
from mixtally.lab.simulation.memoized.document import document
from mixtally.lab.simulation.memoized.losses import check_estimable, compute_losses
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.guarantee import Guarantee, check_epsilon
from mixtally.model.memoized_plan import MemoizedPlan, hashed_question, make_memoized_plan
from mixtally.model.question import MOST_SET
from mixtally.protocol.encode.bloom import build_design
from mixtally.protocol.estimate.conclude import conclude_memoized
from mixtally.protocol.randomize.memoized import new_key
from mixtally.report.document import Facts
from mixtally.report.numbers import at_most


class Levels(NamedTuple):
    """What the options of the levels come to, with what is usual where nothing was given."""

    permanent: float
    p: float
    q: float
    reports: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelOptions:
    """The two levels of noise, the number of reports, and where memoized answers are kept."""

    permanent: Annotated[
        float | None,
        option(
            "--permanent",
            "RAPPOR's f: chance that a memoized bit is a fair coin (default 0.5).",
            "F",
        ),
    ] = None
    p: Annotated[
        float | None, option("--p", "Chance that a kept 0 is shown as 1 (default 0.5).", "P")
    ] = None
    q: Annotated[
        float | None, option("--q", "Chance that a kept 1 is shown as 1 (default 0.75).", "Q")
    ] = None
    reports: Annotated[
        int | None,
        whole_option("--reports", "Reports of every person's memoized answer (default 1)."),
    ] = None

    def with_defaults(self) -> Levels:
        """The levels, and how often they are shown."""
        return Levels(
            0.5 if self.permanent is None else self.permanent,
            0.5 if self.p is None else self.p,
            0.75 if self.q is None else self.q,
            1 if self.reports is None else self.reports,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BloomOptions:
    """Values of an open domain, hashed into bits that cohorts share."""

    bloom_bits: Annotated[
        int | None, whole_option("--bloom-bits", "Hash values into this many bits, 8 to 65,536.")
    ] = None
    hashes: Annotated[
        int | None, whole_option("--hashes", "Bits a hashed value sets, 1 to 16 (default 2).")
    ] = None
    cohorts: Annotated[
        int | None,
        whole_option("--cohorts", "Groups of people who hash differently (default 8)."),
    ] = None


class MemoizedPromise(NamedTuple):
    """What is promised over all reports, as far as it is said."""

    epsilon: float | None = None
    delta: float | None = None


def play_memoized(
    crowd: Population,
    promise: MemoizedPromise,
    options: LevelOptions,
    bloom: BloomOptions,
    run: Run,
    *,
    candidates: tuple[str, ...] | None = None,
    state: Path | None = None,
) -> Outcome:
    """Play reports of memoized answers.

    where
      promise      chooses the least noise that keeps it, over all reports of this run or, with
                   ``state``, over any number of them
      candidates   words that are looked for among hashed values; the crowd's own if left out
      state        the file that keeps the key of the crowd's devices for good

    Raises ParameterError for options outside their range or that do not go together.
    """
    check_memory(bloom, run.seed, state, candidates=candidates is not None)
    levels, reason = _choose_levels(crowd, options, promise, bloom, for_good=state is not None)
    plan, reports = _plan(crowd, levels, bloom), levels.reports
    labels, hashed = crowd.question.labels or (), plan.mechanism.hashed
    words = (candidates or labels) if hashed else ()
    spent = compute_losses(plan, reports, promise.epsilon)
    check_estimable(plan.mechanism, reports, words, run.level)
    key = None if state is None else device_key(state, plan, run.lab.chance)
    people, ones = _play_crowd(crowd, plan, reports, key, run.lab)
    bits = build_design(plan, words) if hashed else None
    result = conclude_memoized(
        plan, ones, people.sizes, words if hashed else labels, bits, level=run.level
    )
    seen = _measure_learning(plan, people, reports, run)
    found = MemoizedFindings(
        about=Provenance(
            title=f"{crowd.question.name}, from memoized answers",
            source=run.source,
            raw=crowd.note,
            reason=reason,
            seed=run.seed,
            ordered=not (LABELS in crowd.from_data or hashed),
        ),
        result=result,
        spent={
            "column": crowd.question.name,
            **spent,
            "memory_file": None if state is None else str(state),
            "memories": 0 if key is None else len(key.memories),
        },
        learned=drop_measured(seen),
        truth=TrueAnswers(dict(zip(labels, crowd.truth.tolist(), strict=True)), seen),
    )
    return outcome_of(
        found,
        lambda shown: document(shown, run.top),
        tuple("candidates" if hashed and one == LABELS else one for one in crowd.from_data),
    )


def _measure_learning(plan: MemoizedPlan, crowd: MemoizedCrowd, reports: int, run: Run) -> Facts:
    """What an observer learns who watches the crowd.

    Watching draws words of its own, so that it never changes what is estimated for a seed.
    """
    watching = run.lab.chance if run.seed is None else SeededChance(run.seed + 1)
    points = played_points(reports)
    measured = dict(zip(points, measure_recoveries(crowd, points, watching), strict=True))
    return compute_learned_facts(plan.mechanism, reports, measured, watching)


def check_memory(
    bloom: BloomOptions, seed: int | None, state: Path | None, *, candidates: bool
) -> None:
    """Raise ParameterError for options that do not go together, before any data are read."""
    if state is not None and seed is not None:
        raise ParameterError(
            "--seed",
            expected="it or --state",
            got="both",
            do="leave one out: who knows the seed would know the key and every kept response",
        )
    given = {
        "--hashes": bloom.hashes is not None,
        "--cohorts": bloom.cohorts is not None,
        "--candidates": candidates,
    }
    used = [name for name, there in given.items() if there]
    if bloom.bloom_bits is None and used:
        raise ParameterError(
            "--bloom-bits",
            expected="a number of bits beside " + ", ".join(used),
            got="none",
            do="add --bloom-bits 128, or leave these out: one bit a bin needs no hashing",
        )


def _choose_levels(
    population: Population,
    options: LevelOptions,
    promise: MemoizedPromise,
    bloom: BloomOptions,
    *,
    for_good: bool,
) -> tuple[Levels, str]:
    """The levels, with the least permanent response that keeps a promise, and why it is that.

    Where memoized answers are kept ``for_good`` reports may go on in later runs, so then the
    promise is for any number of them: what would be seen if the permanent response were shown.
    """
    epsilon, delta, levels = promise.epsilon, promise.delta, options.with_defaults()
    if delta is not None and (epsilon is None or options.permanent is not None):
        expected = "--epsilon beside it" if epsilon is None else "it or --permanent"
        got = "none" if epsilon is None else "both"
        raise ParameterError("--delta", expected=expected, got=got, do="leave one out, or add one")
    if epsilon is None or options.permanent is not None:
        return levels, ""
    check_epsilon(epsilon)
    if delta is not None:
        Guarantee(epsilon=epsilon, delta=delta)
    shown, over = levels, f"the {levels.reports:,} reports of this run"
    if for_good:
        shown = levels._replace(p=0.0, q=1.0, reports=1)
        over = "any number of reports, as with a state file they may go on"
    mechanism = _plan(population, shown, bloom).mechanism
    f = least_permanent(mechanism, shown.reports, epsilon, delta or 0.0).f
    kept = f"epsilon = {epsilon:g}" + (f", delta = {delta:g}" if delta else "")
    reason = f"The least permanent response that keeps {kept} over {over}: f = {at_most(f, 6)}."
    return levels._replace(permanent=f), reason


def _plan(population: Population, levels: Levels, bloom: BloomOptions) -> MemoizedPlan:
    noise, bits = (levels.permanent, levels.p, levels.q), bloom.bloom_bits
    if bits is None:
        return make_memoized_plan(population.question, *noise)
    in_range("bloom bits", bits, 8, 1 << 16, "128 is a common choice")
    hashes = 2 if bloom.hashes is None else bloom.hashes
    in_range(
        "hashes",
        hashes,
        1,
        min(MOST_SET, bits),
        "it is how many bits a value sets: 2 is a common choice",
    )
    question = hashed_question(population.question.name, bits, hashes)
    return make_memoized_plan(question, *noise, 8 if bloom.cohorts is None else bloom.cohorts)


def _play_crowd(
    population: Population,
    plan: MemoizedPlan,
    reports: int,
    kept: DeviceKey | None,
    lab: Lab,
) -> tuple[MemoizedCrowd, NDArray[np.int64]]:
    """The crowd with what it memoizes, and the ones it reports; a key for this run without one."""
    key = new_key(lab.chance) if kept is None else kept.key
    names = population.question.labels or ()
    values = [names[code] for code in population.codes.tolist()]
    crowd = memoize_crowd(plan, values, population.codes, key, lab.chance, derived=kept is not None)
    return crowd, play_reports(crowd, reports, lab.chance, lab.progress)

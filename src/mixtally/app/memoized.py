"""Simulation of people who randomize an answer once, store the result, and report it repeatedly.

The command line and Python call ``play_memoized``. The first randomization is the *permanent*
noise, with parameter f. Each report is randomized again: a stored 1 is reported as 1 with
probability q, and a stored 0 with probability p.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixtally.accounting.divergence.memoized import least_permanent
from mixtally.app.options import MaybePromise, option, whole_option
from mixtally.app.outcome import Outcome, Run, outcome_of
from mixtally.errors import ParameterError, in_range, join_words, not_together
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
    """The two levels of noise and the number of reports, with defaults filled in."""

    permanent: float
    p: float
    q: float
    reports: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelOptions:
    """The two levels of noise, and the number of reports."""

    permanent: Annotated[
        float | None,
        option(
            "--permanent",
            "RAPPOR's f: probability that a memoized bit is random (default 0.5).",
            "F",
        ),
    ] = None
    p: Annotated[
        float | None,
        option("--p", "Probability that a kept 0 is reported as 1 (default 0.5).", "P"),
    ] = None
    q: Annotated[
        float | None,
        option("--q", "Probability that a kept 1 is reported as 1 (default 0.75).", "Q"),
    ] = None
    reports: Annotated[
        int | None,
        whole_option("--reports", "Number of reports of each person (default 1)."),
    ] = None

    def with_defaults(self) -> Levels:
        """Return the levels, with default values for options that are not set."""
        return Levels(
            0.5 if self.permanent is None else self.permanent,
            0.5 if self.p is None else self.p,
            0.75 if self.q is None else self.q,
            1 if self.reports is None else self.reports,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BloomOptions:
    """Parameters of Bloom filters, by which values of an open domain are hashed into bits."""

    bloom_bits: Annotated[
        int | None, whole_option("--bloom-bits", "Hash values into this many bits, 8 to 65,536.")
    ] = None
    hashes: Annotated[
        int | None, whole_option("--hashes", "Bits that a value sets, 1 to 16 (default 2).")
    ] = None
    cohorts: Annotated[
        int | None,
        whole_option("--cohorts", "Groups of people with different hash functions (default 8)."),
    ] = None


def play_memoized(
    crowd: Population,
    promise: MaybePromise,
    options: LevelOptions,
    bloom: BloomOptions,
    run: Run,
    *,
    candidates: tuple[str, ...] | None = None,
    state: Path | None = None,
) -> Outcome:
    """Simulate reports of memoized answers.

    Parameters
    ----------
    crowd : Population
        The people and their answers.
    promise : MaybePromise
        A guarantee, for which the smallest permanent noise is chosen. The guarantee covers all
        reports of this run, or any number of reports if there is a ``state``. Epsilon, delta or
        both may be missing.
    options, bloom : LevelOptions, BloomOptions
        Levels of noise, and hashing of values.
    run : Run
        The settings of the simulation.
    candidates : tuple of str or None
        Words to estimate among hashed values; by default the values of the crowd.
    state : Path or None
        File with the key of the crowd's devices, kept for later runs.

    Raises
    ------
    ParameterError
        If an option is out of range, or options exclude each other.
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
        provenance=Provenance(
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
    """Return facts on what an observer learns about a person, with measurements on the crowd.

    The measurement has its own random stream, so that the estimates for a seed do not depend on it.
    """
    watching = run.lab.chance if run.seed is None else SeededChance(run.seed + 1)
    points = played_points(reports)
    measured = dict(zip(points, measure_recoveries(crowd, points, watching), strict=True))
    return compute_learned_facts(plan.mechanism, reports, measured, watching)


def check_memory(
    bloom: BloomOptions, seed: int | None, state: Path | None, *, candidates: bool
) -> None:
    """Raise an error for options that exclude each other, before any data are read.

    Parameters
    ----------
    bloom : BloomOptions
        The options of the Bloom filter.
    seed : int or None
        The seed of all randomness; None for the operating system's source.
    state : Path or None
        The file with the key from which memoized responses are derived; None for no file.
    candidates : bool
        Whether there is a list of candidate words.

    Raises
    ------
    ParameterError
        If there are both a seed and a file, or if options of a Bloom filter are set without a
        Bloom filter.
    """
    if state is not None and seed is not None:
        raise not_together(
            "--seed",
            "--seed",
            ["--state"],
            "leave one out: a known seed would reveal the key and every memoized response",
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
            expected=f"a number of bits with {join_words(used)}",
            got="none",
            do=f"add --bloom-bits 128, or leave {join_words(used)} out: nothing is hashed without "
            "--bloom-bits",
        )


def _choose_levels(
    population: Population,
    options: LevelOptions,
    promise: MaybePromise,
    bloom: BloomOptions,
    *,
    for_good: bool,
) -> tuple[Levels, str]:
    """Return the levels with the smallest permanent noise for a guarantee, and the reason.

    If no epsilon is required, the levels of ``options`` are returned with an empty reason. With
    ``for_good``, later runs may report the same memoized answers again. The guarantee then covers
    any number of reports, as if the permanent response itself were published.
    """
    epsilon, delta, levels = promise.epsilon, promise.delta, options.with_defaults()
    if delta is not None and epsilon is None:
        raise ParameterError(
            "--delta", expected="--epsilon with it", got="none", do="add it, or leave --delta out"
        )
    if delta is not None and options.permanent is not None:
        raise not_together("--delta", "--delta", ["--permanent"], "leave one out")
    if epsilon is None or options.permanent is not None:
        return levels, ""
    check_epsilon(epsilon)
    if delta is not None:
        Guarantee(epsilon=epsilon, delta=delta)
    shown, over = levels, f"the {levels.reports:,} reports of this run"
    if for_good:
        shown = levels._replace(p=0.0, q=1.0, reports=1)
        over = "any number of reports, because with a state file later runs may add reports"
    mechanism = _plan(population, shown, bloom).mechanism
    f = least_permanent(mechanism, shown.reports, epsilon, delta or 0.0).f
    kept = f"epsilon = {at_most(epsilon, 6)}"
    kept += f", delta = {at_most(delta, 6)}" if delta else ""
    reason = f"The smallest permanent noise for {kept} over {over}: f = {at_most(f, 6)}."
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
        "it is the number of bits that a value sets; 2 is a common choice",
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
    """Return the crowd with its memoized responses, and the number of people who reported a 1.

    The array of these numbers has the shape (cohorts, reports, bits). If ``kept`` is None,
    responses are drawn for this run instead of derived from a stored key.
    """
    key = new_key(lab.chance) if kept is None else kept.key
    names = population.question.labels or ()
    values = [names[code] for code in population.codes.tolist()]
    crowd = memoize_crowd(plan, values, population.codes, key, lab.chance, derived=kept is not None)
    return crowd, play_reports(crowd, reports, lab.chance, lab.progress)

"""``mixtally simulate memoized``: play a column whose every person memoizes their answer."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mixtally.attacks.learned import learned, played_points, unmeasured
from mixtally.cli import options as o
from mixtally.cli.grouped import flags, grouped
from mixtally.cli.labels import read_labels
from mixtally.cli.memory_options import Answers, BloomOptions, LevelOptions, Levels
from mixtally.cli.progress import progress_bars
from mixtally.cli.rows import RowOptions, read_crowd
from mixtally.cli.screen import show
from mixtally.data.population import Population
from mixtally.data.reading import Reading
from mixtally.encode.bloom import design
from mixtally.errors import ParameterError, in_range
from mixtally.estimate.conclude import conclude_memoized
from mixtally.ground.chance import Chance
from mixtally.memory import DeviceKey, device_key
from mixtally.privacy.divergence.memoized import least_permanent
from mixtally.randomize.memoized import new_key
from mixtally.records.guarantee import Guarantee, checked_epsilon
from mixtally.records.memoized_plan import MemoizedPlan, hashed_question, memoized_plan
from mixtally.records.question import MOST_SET
from mixtally.report.document import REHEARSAL
from mixtally.report.numbers import at_most
from mixtally.simulation.memoized.counts import estimated
from mixtally.simulation.memoized.crowd import Crowd, memoizing, play_reports, watched
from mixtally.simulation.memoized.document import document
from mixtally.simulation.memoized.losses import Facts, check, losses
from mixtally.simulation.seeded import SeededChance

_FILES = tuple(
    f"{place}{name}"
    for place in ("", f"{REHEARSAL}/")
    for name in ("report.html", "result.json", "estimates.csv")
)


@grouped
def memory(
    data: o.Data,
    answers: Answers,
    promise: o.MaybePromise,
    *,
    rows: RowOptions,
    run: o.RunOptions,
    options: LevelOptions,
    bloom: BloomOptions,
) -> None:
    """Play answers that are randomized once and reported again.

    Every row of DATA is a person: randomize the answer once, keep the result, report from it.
    --epsilon chooses the least noise that keeps it, over all reports of this run or, with --state,
    over any number of them; beside --permanent it prints what delta is left there.
    """
    state = options.state
    _check_files(state, run)
    if bloom.bloom_bits is None:
        _refuse_without_hashing(bloom)
    file, labels = rows.at(data), read_labels(answers.labels)
    listed = bloom.bloom_bits is not None and bloom.candidates is not None
    reading = Reading(columns=(answers.column,), labels=labels, words=listed)
    population = read_crowd(file, rows.reading(reading))
    levels, reason = _levels(population, options, promise, bloom)
    plan, reports = _plan(population, levels, bloom), levels.reports
    words = _words(population, bloom.candidates) if plan.mechanism.hashed else ()
    spent = losses(plan, reports, promise.epsilon)
    check(plan.mechanism, reports, words, run.level)
    chance = o.chance(run.seed)
    kept = None if state is None else device_key(state, plan, chance)
    crowd, ones = _played(population, plan, reports, kept, chance)
    labels, bits = population.question.labels or (), None
    if plan.mechanism.hashed:
        labels, bits = words, design(plan, words)
    result = conclude_memoized(plan, ones, crowd.sizes, labels, bits, level=run.level)
    ordered = not (population.from_data or plan.mechanism.hashed)
    seen = _learned(plan, crowd, reports, run.seed)
    about = {
        "title": f"{answers.column}, from memoized answers",
        "column": answers.column,
        "reason": reason,
        **spent,
        "seed": run.seed,
        "memory_file": None if state is None else str(state),
        "memories": 0 if kept is None else len(kept.memories),
    }
    source = f"{population.users:,} rows of {file.name}, each played as a person"
    raw = f"{source}. {population.note.removesuffix('.')}" if population.note else source
    played = document(
        {**about, "source": raw, **estimated(result, population), **seen}, run.top, ordered=ordered
    )
    released = None
    if run.seed is None:
        facts = {**about, "source": source, **estimated(result), **unmeasured(seen)}
        released = document(facts, run.top, ordered=ordered)
    files = [] if state is None else [str(state)]
    from_data = population.from_data
    if from_data and plan.mechanism.hashed:
        from_data = ("candidates",)
    show(played, run.out, json=run.json, from_data=from_data, released=released, beside=files)


def _learned(plan: MemoizedPlan, crowd: Crowd, reports: int, seed: int | None) -> Facts:
    """What an observer learns who watches the crowd.

    Watching draws words of its own, so that it never changes what is estimated for a seed.
    """
    watching = o.chance(None) if seed is None else SeededChance(seed + 1)
    points = played_points(reports)
    measured = dict(zip(points, watched(crowd, points, watching), strict=True))
    return learned(plan.mechanism, reports, measured, watching)


def _check_files(state: Path | None, run: o.RunOptions) -> None:
    """Raises ParameterError when what is kept for good could be computed again by anybody.

    Or when the result would be written over it.
    """
    if state is None:
        return
    if run.seed is not None:
        raise ParameterError(
            "--seed",
            wanted="it or --state",
            got="both",
            do="leave one out: who knows the seed would know the key and every kept response",
        )
    if run.out is not None and state.resolve() in {(run.out / name).resolve() for name in _FILES}:
        raise ParameterError(
            "--state",
            wanted="a file that --out does not write",
            got=str(state),
            do="choose another name",
        )


def _refuse_without_hashing(bloom: BloomOptions) -> None:
    """Raises ParameterError when options of hashed values stand without --bloom-bits."""
    used = flags(bloom)
    if used:
        raise ParameterError(
            "--bloom-bits",
            wanted="a number of bits beside " + ", ".join(used),
            got="none",
            do="add --bloom-bits 128, or leave these out: one bit a bin needs no hashing",
        )


def _levels(
    population: Population, options: LevelOptions, promise: o.MaybePromise, bloom: BloomOptions
) -> tuple[Levels, str]:
    """The levels, with the least permanent response that keeps a promise, and why it is that.

    With a key's file reports may go on in later runs, so then the promise is for any number of
    them: what would be seen if the permanent response itself were shown.
    """
    epsilon, delta, levels = promise.epsilon, promise.delta, options.filled()
    if delta is not None and (epsilon is None or options.permanent is not None):
        wanted = "--epsilon beside it" if epsilon is None else "it or --permanent"
        got = "none" if epsilon is None else "both"
        raise ParameterError("--delta", wanted=wanted, got=got, do="leave one out, or add one")
    if epsilon is None or options.permanent is not None:
        return levels, ""
    checked_epsilon(epsilon)
    if delta is not None:
        Guarantee(epsilon=epsilon, delta=delta)
    shown, over = levels, f"the {levels.reports:,} reports of this run"
    if options.state is not None:
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
        return memoized_plan(population.question, *noise)
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
    return memoized_plan(question, *noise, 8 if bloom.cohorts is None else bloom.cohorts)


def _words(population: Population, candidates: Path | None) -> tuple[str, ...]:
    """The candidates in the file, or all values of the data; raises DataError for a bad list."""
    return read_labels(candidates) or population.question.labels or ()


def _played(
    population: Population,
    plan: MemoizedPlan,
    reports: int,
    kept: DeviceKey | None,
    chance: Chance,
) -> tuple[Crowd, NDArray[np.int64]]:
    """The crowd with what it memoizes, and the ones it reports; a key for this run without one."""
    key = new_key(chance) if kept is None else kept.key
    names = population.question.labels or ()
    values = [names[code] for code in population.codes.tolist()]
    with progress_bars() as progress:
        crowd = memoizing(plan, values, population.codes, key, chance, derived=kept is not None)
        return crowd, play_reports(crowd, reports, chance, progress)

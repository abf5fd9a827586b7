"""``mixtally memory``: play a column whose every person memoizes their answer."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mixtally.cli import options as o
from mixtally.cli.grouped import takes
from mixtally.cli.memory_options import BLOOM, LEVELS, filled
from mixtally.cli.output import progress_bars, show

if TYPE_CHECKING:
    from mixtally.client.memory_file import MemoryFile
    from mixtally.data.population import Population
    from mixtally.ground.chance import Chance
    from mixtally.records.memoized_plan import MemoizedPlan

Epsilon = Annotated[
    float | None, typer.Option("--epsilon", help="Also print delta at this loss.", metavar="E")
]

_FILES = ("report.html", "report.json", "estimates.csv")


@takes({**LEVELS, **BLOOM})
def memory(
    options: dict[str, Any],
    data: Annotated[Path, typer.Argument(help="A .csv, .csv.gz or .parquet file, a row a person.")],
    column: Annotated[str, typer.Option("--column", help="The column to count.", metavar="NAME")],
    labels: o.Labels = None,
    epsilon: Epsilon = None,
    level: o.Level = 0.95,
    seed: o.Seed = None,
    out: Annotated[Path | None, o.folder_option("Write report.html, .json and .csv here.")] = None,
    top: o.Top = 20,
    json: o.Json = False,
) -> None:
    """Play answers that are randomized once and reported again.

    Every row of DATA is a person: randomize the answer once, keep the result, report from it.
    """
    play(
        data, column, options, labels=labels, epsilon=epsilon, level=level, seed=seed, out=out,
        top=top, json=json,
    )  # fmt: skip


def play(
    data: Path,
    column: str,
    options: dict[str, Any],
    *,
    labels: Path | None,
    epsilon: float | None,
    level: float,
    seed: int | None,
    out: Path | None,
    top: int,
    json: bool,
    reason: str = "",
) -> None:
    """Play the crowd of ``column`` and show it; ``options`` are those of LEVELS and BLOOM."""
    from mixtally.attacks.learned import learned, played_points
    from mixtally.data.population import read_population
    from mixtally.encode.bloom import design
    from mixtally.estimate.conclude import conclude_memoized
    from mixtally.simulate.memoized.counts import estimated
    from mixtally.simulate.memoized.crowd import memoizing, play_reports, watched
    from mixtally.simulate.memoized.document import document
    from mixtally.simulate.memoized.losses import check, losses
    from mixtally.simulate.seeded import SeededChance

    options = filled(options)
    reports, state = options["reports"], options["state"]
    _check_secret(state, seed)
    _check_apart(state, out)
    if options["bloom_bits"] is None:
        _refuse_without_hashing(options)
    with progress_bars() as progress:
        population = read_population(data, column, o.read_labels(labels), progress)
    plan = _plan(population, options)
    words = _words(population, options["candidates"]) if plan.mechanism.hashed else ()
    told = losses(plan, reports, epsilon)
    check(plan.mechanism, reports, words, level)
    chance = o.chance(seed)
    file, key = _file(state, plan, column, chance)
    names = population.question.labels or ()
    values = [names[code] for code in population.codes.tolist()]
    with progress_bars() as progress:
        crowd = memoizing(plan, values, population.codes, key, chance, file)
        ones = play_reports(crowd, reports, chance, progress)
    counted, bits = names, None
    if plan.mechanism.hashed:
        counted, bits = words, design(plan, words)
    result = conclude_memoized(plan, ones, crowd.sizes, counted, bits, level=level)
    # Watching draws words of its own, so that it never changes what is estimated for a seed.
    watching = o.chance(None) if seed is None else SeededChance(seed + 1)
    points = played_points(reports)
    measured = dict(zip(points, watched(crowd, points, watching), strict=True))
    facts = {
        "title": f"{column}, from memoized answers",
        "column": column,
        "source": f"{len(values):,} rows of {data.name}, each played as a person",
        "reason": reason,
        **told,
        "seed": seed,
        "memory_file": None if state is None else str(state),
        **estimated(result, population),
        **learned(plan.mechanism, reports, measured, watching),
    }
    show(document(facts, top), out, json=json, kept=[] if state is None else [str(state)])


def _check_secret(state: Path | None, seed: int | None) -> None:
    """Raises ParameterError when what is kept for good could be computed again by anybody."""
    from mixtally.errors import ParameterError

    if state is not None and seed is not None:
        raise ParameterError(
            "--seed", wanted="it or --state", got="both",
            do="leave one out: who knows the seed would know the key and every kept response",
        )  # fmt: skip


def _check_apart(state: Path | None, out: Path | None) -> None:
    """Raises ParameterError when the result would be written over the memory file."""
    from mixtally.errors import ParameterError

    if state is None or out is None:
        return
    if state.resolve() in {(out / name).resolve() for name in _FILES}:
        raise ParameterError(
            "--state", wanted="a file that --out does not write", got=str(state),
            do="choose another name",
        )  # fmt: skip


def _refuse_without_hashing(options: dict[str, Any]) -> None:
    """Raises ParameterError when options of hashed values stand without --bloom-bits."""
    from mixtally.errors import ParameterError

    flags = ["--" + name.replace("_", "-") for name in BLOOM if options[name] is not None]
    if flags:
        raise ParameterError(
            "--bloom-bits", wanted="a number of bits beside " + ", ".join(flags), got="none",
            do="add --bloom-bits 128, or leave these out: one bit a bin needs no hashing",
        )  # fmt: skip


def _plan(population: "Population", options: dict[str, Any]) -> "MemoizedPlan":
    from mixtally.errors import ParameterError
    from mixtally.records.memoized_plan import hashed_question, memoized_plan
    from mixtally.records.question import MOST_SET

    permanent, p, q = (options[name] for name in ("permanent", "p", "q"))
    bits, hashes, cohorts = (options[name] for name in ("bloom_bits", "hashes", "cohorts"))
    if bits is None:
        return memoized_plan(population.question, permanent, p, q)
    if not 8 <= bits <= 1 << 16:
        raise ParameterError(
            "bloom bits", wanted="an integer in [8, 65,536]", got=bits, do="128 is a common choice"
        )
    hashes = 2 if hashes is None else hashes
    if not 1 <= hashes <= min(MOST_SET, bits):
        raise ParameterError(
            "hashes", wanted=f"an integer in [1, {min(MOST_SET, bits)}]", got=hashes,
            do="it is how many bits a value sets: 2 is a common choice",
        )  # fmt: skip
    question = hashed_question(population.question.name, bits, hashes)
    return memoized_plan(question, permanent, p, q, 8 if cohorts is None else cohorts)


def _words(population: "Population", candidates: Path | None) -> tuple[str, ...]:
    """The candidates in the file, or all values of the data; raises DataError for a bad list."""
    return o.read_labels(candidates) or population.question.labels or ()


def _file(
    path: Path | None, plan: "MemoizedPlan", column: str, chance: "Chance"
) -> "tuple[MemoryFile | None, bytes]":
    """The crowd's memory file and its key; a key for this run alone without one."""
    from mixtally.client.memory_file import MemoryFile, key_for
    from mixtally.randomize.memoized import new_key

    if path is None:
        return None, new_key(chance)
    key = key_for(path, path.with_name(path.name + ".key"), chance)
    return MemoryFile(path, plan, f"the crowd of {column}", key), key

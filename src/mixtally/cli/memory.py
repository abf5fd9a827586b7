"""``mixtally memory``: play a column whose every person has a memory of their own."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mixtally.cli import options as o
from mixtally.cli.hashing import Candidates, read_candidates
from mixtally.cli.output import print_json, progress_bars, publish
from mixtally.cli.simulate import chance as source

if TYPE_CHECKING:
    from mixtally.ground.chance import Chance
    from mixtally.lab.memory_file import MemoryFile
    from mixtally.lab.population import Population
    from mixtally.protocols.two_level import TwoLevel

Permanent = Annotated[
    float, typer.Option("--permanent", help="Chance that a kept bit is a coin.", metavar="F")
]
ShowZero = Annotated[
    float, typer.Option("--p", help="Chance that a kept 0 is shown as 1.", metavar="P")
]
ShowOne = Annotated[
    float, typer.Option("--q", help="Chance that a kept 1 is shown as 1.", metavar="Q")
]
BloomBits = Annotated[
    int | None,
    o.whole_option("--bloom-bits", "Hash values into this many bits, 8 to 65,536."),
]
Hashes = Annotated[int | None, o.whole_option("--hashes", "Bits a hashed value sets (default 2).")]
Cohorts = Annotated[
    int | None,
    o.whole_option("--cohorts", "Groups of people who hash differently (default 8)."),
]
MemoryPath = Annotated[
    Path | None,
    typer.Option(
        "--memory-file",
        help="Keep the memories here, and use those kept before; the key lies beside, in FILE.key.",
        metavar="FILE",
    ),
]
Epsilon = Annotated[
    float | None, typer.Option("--epsilon", help="Also print delta at this loss.", metavar="E")
]


def memory(
    data: Annotated[Path, typer.Argument(help="A .csv, .csv.gz or .parquet file, a row a person.")],
    column: Annotated[str, typer.Option("--column", help="The column to count.", metavar="NAME")],
    permanent: Permanent = 0.5,
    p: ShowZero = 0.5,
    q: ShowOne = 0.75,
    reports: Annotated[int, o.whole_option("--reports", "Reports of every person.")] = 1,
    bloom_bits: BloomBits = None,
    hashes: Hashes = None,
    cohorts: Cohorts = None,
    candidates: Candidates = None,
    labels: o.Labels = None,
    epsilon: Epsilon = None,
    level: o.Level = 0.95,
    memory_file: MemoryPath = None,
    seed: o.Seed = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write memory.json and estimates.csv here.")
    ] = None,
    top: o.Top = 20,
    json: o.Json = False,
) -> None:
    """Play answers that are randomized once and reported again.

    Every row of DATA is a person: randomize the answer once, keep the result, report from it.
    """
    from mixtally.cli import memory_tables as tables
    from mixtally.lab.population import read_population
    from mixtally.lab.remembered import play_reports, remembering, watch
    from mixtally.lab.seeded import SeededChance

    if bloom_bits is None:
        _refuse_without_hashing(hashes=hashes, cohorts=cohorts, candidates=candidates)
    population = read_population(data, column, o.read_labels(labels))
    plan = _plan(population, permanent, p, q, bloom_bits, hashes, cohorts)
    words = _words(population, candidates) if plan.hashed else ()
    price = tables.prices(plan, reports, epsilon)
    tables.check(plan, reports, words, level)
    chance = source(seed)
    file, key = _file(memory_file, plan, column, chance)
    names = population.question.labels or ()
    values = [names[code] for code in population.codes.tolist()]
    with progress_bars() as progress:
        crowd = remembering(plan, values, population.codes, key, chance, file)
        ones = play_reports(crowd, reports, chance, progress)
    # Watching draws words of its own, so that it never changes what is estimated for a seed.
    watched = watch(crowd, reports, source(None) if seed is None else SeededChance(seed + 1))
    facts = {
        **price,
        "source": f"{len(values):,} rows of {data.name}, each played as a person",
        "seed": seed,
        "memory_file": None if memory_file is None else str(memory_file),
        **tables.estimated(plan, ones, crowd.sizes, words, population, level),
        **tables.recovered(plan, reports, watched),
    }
    written = []
    if out is not None:
        files = {"memory.json": tables.json_text(facts), "estimates.csv": tables.csv_text(facts)}
        written = publish(out, files)
    if json:
        print_json(facts)
        return
    tables.show(facts, column, top, [*written, *([memory_file] if memory_file else [])])


def _refuse_without_hashing(**given: object) -> None:
    """Raises ParameterError when options of hashed values stand without --bloom-bits."""
    from mixtally.errors import ParameterError

    flags = ["--" + name for name, value in given.items() if value is not None]
    if flags:
        raise ParameterError(
            "--bloom-bits", wanted="a number of bits beside " + ", ".join(flags), got="none",
            do="add --bloom-bits 128, or leave these out: one bit a bin needs no hashing",
        )  # fmt: skip


def _plan(
    population: "Population",
    permanent: float,
    p: float,
    q: float,
    bits: int | None,
    hashes: int | None,
    cohorts: int | None,
) -> "TwoLevel":
    from mixtally.errors import ParameterError
    from mixtally.protocols.two_level import hashed_question, two_level

    if bits is None:
        return two_level(population.question, permanent, p, q)
    if not 8 <= bits <= 1 << 16:
        raise ParameterError(
            "bloom bits", wanted="an integer in [8, 65,536]", got=bits, do="128 is a common choice"
        )
    question = hashed_question(population.question.name, bits, 2 if hashes is None else hashes)
    return two_level(question, permanent, p, q, 8 if cohorts is None else cohorts)


def _words(population: "Population", candidates: Path | None) -> tuple[str, ...]:
    """The candidates in the file, or all values of the data; raises DataError for a bad list."""
    if candidates is None:
        return population.question.labels or ()
    return read_candidates(candidates)


def _file(
    path: Path | None, plan: "TwoLevel", column: str, chance: "Chance"
) -> "tuple[MemoryFile | None, bytes]":
    """The crowd's memory file and its key; a key for this run alone without one."""
    from mixtally.lab.memory_file import MemoryFile, key_for
    from mixtally.randomize.kept import new_key

    if path is None:
        return None, new_key(chance)
    key = key_for(path, path.with_name(path.name + ".key"), chance)
    return MemoryFile(path, plan, f"the crowd of {column}", key), key

"""``mixtally words``: the most frequent words of a column when no list of them may be fixed."""

from pathlib import Path
from typing import Annotated

import typer

from mixtally.cli import options as o
from mixtally.cli.output import progress_bars, show


def words(
    data: Annotated[Path, typer.Argument(help="A .csv, .csv.gz or .parquet file, a row a person.")],
    column: Annotated[str, typer.Option("--column", help="The column of words.", metavar="NAME")],
    epsilon: o.Epsilon,
    delta: o.Delta,
    top: Annotated[int, o.whole_option("--top", "How many words are wanted.")] = 50,
    rounds: Annotated[int, o.whole_option("--rounds", "Most characters of a word, 1 to 64.")] = 10,
    keep: Annotated[
        int | None,
        o.whole_option("--keep", "Prefixes that survive a round at most (default 3 x top)."),
    ] = None,
    alphabet: Annotated[
        str | None,
        typer.Option(
            "--alphabet",
            help="Characters that take one round each; others take several (default a-z 0-9 ').",
            metavar="CHARACTERS",
        ),
    ] = None,
    way: Annotated[
        str | None,
        typer.Option(
            "--way",
            help="together: everybody in all rounds; apart: everybody in one; else by error.",
            metavar="WAY",
        ),
    ] = None,
    error_rate: Annotated[
        float,
        typer.Option(
            "--error-rate",
            help="Chance that any word nobody holds is published, at most 0.5.",
            metavar="R",
        ),
    ] = 0.05,
    messages_per_user: Annotated[
        float,
        typer.Option(
            "--messages-per-user", help="Most messages a person sends in one round.", metavar="M"
        ),
    ] = 4.0,
    mix_fakes: o.MixFakes = False,
    seed: o.Seed = None,
    out: Annotated[
        Path | None, o.folder_option("Write report.html, .json and words.csv here.")
    ] = None,
    json: o.Json = False,
) -> None:
    """Find the most frequent words of a column.

    No list of words is needed: prefixes grow by one character a round while enough people hold
    them. Every row of DATA is a person with one word.
    """
    from mixtally.data.population import read_population
    from mixtally.encode.spelling import LETTERS, Spelling
    from mixtally.records.guarantee import Guarantee
    from mixtally.simulate.heavy import Search, design, find_words
    from mixtally.simulate.heavy.document import document
    from mixtally.simulate.heavy.facts import facts

    promised = Guarantee(epsilon=epsilon, delta=delta)
    spelling, chosen = Spelling(LETTERS if alphabet is None else alphabet), _way(way)
    with progress_bars() as progress:
        population = read_population(data, column, progress=progress)
    search = Search(
        guarantee=promised,
        users=len(population.codes),
        top=top,
        rounds=rounds,
        keep=keep,
        error_rate=error_rate,
        messages_per_user=messages_per_user,
        mix_fakes=mix_fakes,
        spelling=spelling,
        name=column,
    )
    planned = design(search, chosen)
    vocabulary = population.question.labels or ()
    with progress_bars() as progress:
        result = find_words(planned, vocabulary, population.codes, o.chance(seed), progress)
    source = f"{len(population.codes):,} rows of {data.name}, each played as a person."
    told = facts(result, vocabulary, population.truth, source=source, seed=seed)
    show(document(told), out, json=json)


def _way(name: str | None):  # type: ignore[no-untyped-def]  # noqa: ANN202
    from mixtally.errors import ParameterError
    from mixtally.simulate.heavy import Way

    if name is None or name in list(Way):
        return None if name is None else Way(name)
    raise ParameterError("way", wanted="together or apart", got=repr(name), do="or leave it out")

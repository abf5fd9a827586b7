"""``mixtally simulate words``: the most frequent words of a column, without a list."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from mixtally.cli import options as o
from mixtally.cli.grouped import grouped
from mixtally.cli.progress import progress_bars
from mixtally.cli.rows import RowOptions, read_crowd
from mixtally.cli.screen import show
from mixtally.data.reading import Reading
from mixtally.encode.spelling import LETTERS, Spelling
from mixtally.errors import ParameterError
from mixtally.planner import Planner
from mixtally.records.guarantee import Guarantee
from mixtally.simulation.heavy import Search, Way, design, find_words
from mixtally.simulation.heavy.document import document
from mixtally.simulation.heavy.facts import facts, lines, published
from mixtally.simulation.lab import Lab


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """Which words are looked for, and at what cost."""

    top: Annotated[int, o.whole_option("--top", "How many words are wanted.")] = 50
    rounds: Annotated[int, o.whole_option("--rounds", "Most characters of a word, 1 to 64.")] = 10
    survivors: Annotated[
        int | None,
        o.whole_option("--survivors", "Prefixes that survive a round at most (default 3 x top)."),
    ] = None
    alphabet: Annotated[
        str | None,
        o.option(
            "--alphabet",
            "Characters that take one round each; others take several (default a-z 0-9 ').",
            "CHARACTERS",
        ),
    ] = None
    way: Annotated[
        str | None,
        o.option(
            "--way",
            "together: everybody in all rounds; apart: everybody in one; else by error.",
            "WAY",
        ),
    ] = None
    error_rate: Annotated[
        float,
        o.option(
            "--error-rate", "Chance that any word nobody holds is published, at most 0.5.", "R"
        ),
    ] = 0.05
    messages_per_user: Annotated[
        float, o.option("--messages-per-user", "Most messages a person sends in one round.", "M")
    ] = 4.0
    mix_fakes: o.MixFakes = False


@grouped
def words(
    data: o.Data,
    column: Annotated[str, o.option("--column", "The column of words.", "NAME")],
    promise: o.Promise,
    options: SearchOptions,
    rows: RowOptions,
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
    promised, alphabet = promise.guarantee(), options.alphabet
    spelling, chosen = Spelling(LETTERS if alphabet is None else alphabet), _way(options.way)
    file = rows.at(data)
    population = read_crowd(file, rows.reading(Reading(columns=(column,), words=True)))
    users = len(population.codes)
    planner = Planner()
    planned = design(_search(options, promised, users, spelling, column), chosen, planner)
    vocabulary = population.question.labels or ()
    with progress_bars() as progress:
        result = find_words(
            planned, vocabulary, population.codes, Lab(o.chance(seed), progress, planner)
        )
    source = f"{users:,} rows of {file.name}, each played as a person."
    raw = f"{source} {population.note}".rstrip()
    found = facts(result, vocabulary, population.truth, source=raw, seed=seed)
    released = None
    if seed is None:
        released = document(published(result, source=source, seed=seed), lines(result))
    show(document(found, lines(result)), out, json=json, from_data=(), released=released)


def _search(
    options: SearchOptions, promised: Guarantee, users: int, spelling: Spelling, name: str
) -> Search:
    return Search(
        guarantee=promised,
        users=users,
        top=options.top,
        rounds=options.rounds,
        keep=options.survivors,
        error_rate=options.error_rate,
        messages_per_user=options.messages_per_user,
        mix_fakes=options.mix_fakes,
        spelling=spelling,
        name=name,
    )


def _way(name: str | None) -> Way | None:
    if name is None or name in list(Way):
        return None if name is None else Way(name)
    raise ParameterError("way", wanted="together or apart", got=repr(name), do="or leave it out")

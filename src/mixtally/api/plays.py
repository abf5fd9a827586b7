"""Simulations of other questions than a count: words, votes, baskets, places, memoized answers."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from mixtally.api import checks
from mixtally.api.labels import labels_of, merging_of, missing_texts, separator_of
from mixtally.api.promise import guarantee_of
from mixtally.api.runs import run_of
from mixtally.api.simulated import Simulated
from mixtally.api.values import Wanted, shared_crowd_of
from mixtally.app.baskets import FindOptions, baskets
from mixtally.app.limits import BudgetOptions
from mixtally.app.memoized import BloomOptions, LevelOptions, Promised, memoized
from mixtally.app.outcome import Run
from mixtally.app.places import places
from mixtally.app.winner import VoteOptions, votes
from mixtally.app.words import SearchOptions, words
from mixtally.errors import ParameterError
from mixtally.lab.data.places import Box, grid
from mixtally.lab.data.population import Population
from mixtally.lab.data.reading import DROP
from mixtally.protocol.estimate.analysis import Analysis


@checks.in_python
@checks.takes(SearchOptions)
def simulate_words(
    values: object,
    *,
    epsilon: float,
    delta: float,
    seed: int | None = None,
    missing: str = "refuse",
    missing_values: Any = (),
    name: str | None = None,
    **options: Any,
) -> Simulated:
    """The most frequent words of a crowd, without a list of them.

    where
      values           a word a person: a list, an array or a series
      epsilon, delta   what is promised over all rounds together
      seed             makes the noise repeat, and public: for simulation only
      missing          "refuse" or "drop"
      missing_values   values that mean missing
      name             what the question is called
      options          ``mixtally.app.words.SearchOptions``: top, rounds, survivors and others

    Raises DataError for values that are no words, ParameterError for an option outside its range,
    InfeasibleError when nothing fits.

    >>> mixtally.simulate_words(["tea", "milk"] * 500, epsilon=2, delta=1e-6, top=2)
    """
    promised, asked = guarantee_of(epsilon, delta), checks.made(SearchOptions, options)
    asked.check()
    wanted = wanted_of(missing, missing_values, kind="one", words=True)
    crowd, run, backend = _played(values, name, wanted, seed)
    return Simulated(words(crowd, promised, asked, run), backend)


@checks.in_python
@checks.takes(VoteOptions, BudgetOptions)
def simulate_votes(
    values: object,
    *,
    labels: Any = None,
    seed: int | None = None,
    level: float = 0.95,
    missing: str = "refuse",
    missing_values: Any = (),
    name: str | None = None,
    strip: bool = False,
    ignore_case: bool = False,
    other: str | None = None,
    **options: Any,
) -> Simulated:
    """A vote, counted by ballots that trust nobody and through mixes, and who has won.

    where
      values    a ballot a person: a list, an array or a series
      labels    the choices in their order; read off the ballots when left out: for simulation only
      seed      makes the noise repeat: for simulation only
      level     of all intervals, in (0, 1)
      missing   "refuse", "drop", or the label of blank ballots, which cannot win
      strip            whether spaces around a value are no part of its label
      ignore_case      whether capital and small letters are the same in labels
      other            the label of all values that are not listed; None to refuse them
      options   ``mixtally.app.winner.VoteOptions`` (epsilon, delta, keep_probability) and what the
                shuffle version may cost and whom it may trust

    Raises DataError for ballots that cannot be read, ParameterError for an option outside its
    range, InfeasibleError when nothing fits.

    >>> mixtally.simulate_votes(["yes", "no", "yes"] * 500, epsilon=1, delta=1e-6)
    """
    wanted = wanted_of(missing, missing_values, kind="one", labels=labels)
    wanted = replace(wanted, merging=merging_of(strip, ignore_case, other))
    crowd, run, backend = _played(values, name, wanted, seed, level)
    outcome = votes(
        crowd,
        checks.made(VoteOptions, options),
        run,
        budget=checks.made(BudgetOptions, options),
        analysis=Analysis(level=run.level),
        blank=None if missing in ("refuse", DROP) else missing,
    )
    return Simulated(outcome, backend)


@checks.in_python
@checks.takes(FindOptions, BudgetOptions)
def simulate_baskets(
    values: object,
    *,
    epsilon: float,
    delta: float,
    labels: Any = None,
    max_set: int | None = None,
    separator: str | None = None,
    empty_sets: bool = False,
    seed: int | None = None,
    level: float = 0.95,
    name: str | None = None,
    strip: bool = False,
    ignore_case: bool = False,
    other: str | None = None,
    **options: Any,
) -> Simulated:
    """Items that people hold together, and rules between them.

    where
      values           a list of items a person, or a text of several and ``separator``
      epsilon, delta   what is promised
      labels           all items in their order; read off the baskets when left out: for
                       simulation only
      max_set          the most items of a basket; the largest when left out: for simulation only
      empty_sets       whether a missing value is a basket without items
      seed             makes the noise repeat: for simulation only
      level            of all intervals, in (0, 1)
      strip            whether spaces around a value are no part of its label
      ignore_case      whether capital and small letters are the same in labels
      other            the label of all values that are not listed; None to refuse them
      options          ``mixtally.app.baskets.FindOptions`` (support, confidence, largest), and what
                       it may cost and whom it may trust

    Raises DataError for values that are no baskets, ParameterError for an option outside its range,
    InfeasibleError when nothing fits.

    >>> mixtally.simulate_baskets([["tea", "milk"], ["tea"]] * 500, epsilon=2, delta=1e-6)
    """
    promised = guarantee_of(epsilon, delta)
    wanted = Wanted(
        kind="set",
        labels=labels,
        max_set=checks.maybe_whole("max set", max_set),
        separator=separator_of(separator),
        empty_sets=checks.flag("empty_sets", empty_sets),
        merging=merging_of(strip, ignore_case, other),
    )
    find, budget = checks.made(FindOptions, options), checks.made(BudgetOptions, options)
    crowd, run, backend = _played(values, name, wanted, seed, level)
    return Simulated(baskets(crowd, promised, find, budget, run), backend)


@checks.in_python
@checks.takes(BudgetOptions)
def simulate_places(
    values: object,
    *,
    epsilon: float,
    delta: float,
    box: Sequence[float],
    resolution: int,
    seed: int | None = None,
    level: float = 0.95,
    missing: str = "refuse",
    **options: Any,
) -> Simulated:
    """People in each hexagon of a map, by their own coordinates; needs ``mixtally[places]``.

    where
      values           two columns, latitudes and longitudes in degrees: a frame or a dict of lists
      epsilon, delta   what is promised
      box              what the map shows, known before: south, north, west, east, in degrees
      resolution       of H3, 0 to 8: 3 suits a continent, 6 a city
      seed             makes the noise repeat: for simulation only
      level            of all intervals, in (0, 1)
      missing          "refuse" or "drop"
      options          what it may cost and whom it may trust

    Raises DataError for what is no place, ParameterError for an option outside its range,
    InfeasibleError when nothing fits.

    >>> mixtally.simulate_places({"lat": lats, "lon": lons}, epsilon=1, delta=1e-6,
    ...                          box=(24, 50, -125, -66), resolution=3)
    """
    promised, ends = guarantee_of(epsilon, delta), checks.listed("box", box)
    if len(ends) != 4:
        raise ParameterError(
            "box",
            wanted="four numbers: south, north, west, east",
            got=checks.shown(box),
            do="box=(24, 50, -125, -66), for example",
        )
    south, north, west, east = (checks.number("box", end) for end in ends)
    hexagons = grid(Box(south, north, west, east), checks.whole("resolution", resolution))
    wanted = Wanted(grid=hexagons, missing=checks.text("missing", missing))
    budget = checks.made(BudgetOptions, options)
    crowd, run, backend = _played(values, None, wanted, seed, level)
    return Simulated(places(crowd, promised, hexagons, budget, run), backend)


@checks.in_python
@checks.takes(LevelOptions, BloomOptions)
def simulate_memoized(
    values: object,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    labels: Any = None,
    candidates: Any = None,
    seed: int | None = None,
    level: float = 0.95,
    missing: str = "refuse",
    missing_values: Any = (),
    name: str | None = None,
    strip: bool = False,
    ignore_case: bool = False,
    other: str | None = None,
    **options: Any,
) -> Simulated:
    """Answers that every person randomizes once, keeps, and reports from.

    where
      values           an answer a person
      epsilon, delta   choose the least noise that keeps them over all reports
      labels           the answers in their order; read off the values when left out: for
                       simulation only
      candidates       words that are looked for among hashed values (with ``bloom_bits``)
      seed             makes the noise repeat: for simulation only
      level            of all intervals, in (0, 1)
      missing          "refuse", "drop", or the label that missing values count as
      strip            whether spaces around a value are no part of its label
      ignore_case      whether capital and small letters are the same in labels
      other            the label of all values that are not listed; None to refuse them
      options          ``mixtally.app.memoized.LevelOptions`` (permanent, p, q, reports) and
                       ``BloomOptions`` (bloom_bits, hashes, cohorts)

    Raises DataError for values that cannot be read, ParameterError for an option outside its range.

    >>> mixtally.simulate_memoized(["yes", "no"] * 500, epsilon=1, reports=5)
    """
    listed = None if candidates is None else labels_of("candidates", candidates)
    promise = Promised(checks.maybe_number("epsilon", epsilon), checks.maybe_number("delta", delta))
    levels, bloom = checks.made(LevelOptions, options), checks.made(BloomOptions, options)
    wanted = wanted_of(missing, missing_values, kind="one", labels=labels, words=listed is not None)
    wanted = replace(wanted, merging=merging_of(strip, ignore_case, other))
    crowd, run, backend = _played(values, name, wanted, seed, level)
    return Simulated(memoized(crowd, promise, levels, bloom, run, candidates=listed), backend)


def wanted_of(missing: object, missing_values: object, **how: Any) -> Wanted:
    """How values are read, out of what the caller says of missing ones."""
    texts = missing_texts(missing_values)
    return Wanted(missing=checks.text("missing", missing), missing_values=texts, **how)


def _played(
    values: object, name: object, wanted: Wanted, seed: object, level: object = 0.95
) -> tuple[Population, Run, Any]:
    """The crowd, how it is played, and the library that it came from."""
    run = run_of(seed, level)
    crowd = shared_crowd_of(values, name, wanted)
    people = replace(crowd.population, note=" ".join(crowd.raw))
    source = " ".join([f"{people.users:,} values, {people.one_each}.", *crowd.public])
    return people, replace(run, source=source), crowd.backend

"""Simulations of other questions than a count: words, baskets, places, memoized answers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mixtally.api import checks
from mixtally.api.files import file_at
from mixtally.api.labels import labels_of, separator_of
from mixtally.api.reading import RowOptions, make_reading_request, make_run, prepare_run
from mixtally.api.requests import guarantee_of
from mixtally.api.result import Result
from mixtally.app.baskets import FindOptions, baskets
from mixtally.app.limits import BudgetOptions
from mixtally.app.memoized import BloomOptions, LevelOptions, MemoizedPromise, play_memoized
from mixtally.app.places import places
from mixtally.app.words import SearchOptions, words
from mixtally.errors import ParameterError
from mixtally.lab.data.places import Box, build_grid


@checks.translate_errors
@checks.accept_options(SearchOptions, RowOptions)
def simulate_words(
    values: object,
    *,
    epsilon: float,
    delta: float,
    seed: int | None = None,
    name: str | None = None,
    **options: Any,
) -> Result:
    """Find the most frequent words of a crowd, without a list of them.

    Parameters
    ----------
    values : list, array or series
        A word a person.
    epsilon, delta : float
        The guarantee of all rounds together.
    seed : int or None
        Makes the noise repeat, and public: for simulation only.
    name : str or None
        What the question is called; the column's name when left out.
    **options
        Those of ``mixtally simulate words``: ``top``, ``longest``, ``survivors`` and others; how
        values are read, as ``mixtally.simulate`` has it.

    Returns
    -------
    Result
        The words in ``tables["words"]``.

    Raises
    ------
    DataError
        For values that are no words.
    InfeasibleError
        If no plan meets the request.
    ParameterError
        For an option outside its range.

    Examples
    --------
    >>> mixtally.simulate_words(["tea", "milk"] * 500, epsilon=2, delta=1e-6, top=2)
    """
    promised, asked = guarantee_of(epsilon, delta), checks.read_options(SearchOptions, options)
    asked.check()
    request = make_reading_request(checks.read_options(RowOptions, options), kind="one", words=True)
    crowd, run, backend = prepare_run(values, name, request, make_run(seed))
    return Result(words(crowd, promised, asked, run), backend)


@checks.translate_errors
@checks.accept_options(FindOptions, BudgetOptions, RowOptions)
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
    **options: Any,
) -> Result:
    """Find items that people hold together, and rules between them.

    Parameters
    ----------
    values : list, series or frame
        A list of items a person, or a text of several and ``separator``; or an item a place, with
        ``person`` and ``several="set"``.
    epsilon, delta : float
        The guarantee.
    labels : list of str or None
        All items in their order; read off the baskets when left out: for simulation only.
    max_set : int or None
        The most items of a basket; the largest when left out: for simulation only.
    separator : str or None
        Separates the items of a basket that is one text.
    empty_sets : bool
        Whether a missing value is a basket without items.
    seed : int or None
        Makes the noise repeat, and public: for simulation only.
    level : float
        Confidence level of all intervals, in (0, 1).
    name : str or None
        What the question is called; the column's name when left out.
    **options
        Those of ``mixtally simulate baskets``: ``support``, ``confidence``, ``largest``; what it
        may cost and whom it may trust; how values are read, as ``mixtally.simulate`` has it.

    Returns
    -------
    Result
        The sets and rules in ``tables``.

    Raises
    ------
    DataError
        For values that are no baskets.
    InfeasibleError
        If no plan meets the request.
    ParameterError
        For an option outside its range.

    Examples
    --------
    >>> mixtally.simulate_baskets([["tea", "milk"], ["tea"]] * 500, epsilon=2, delta=1e-6)
    """
    promised = guarantee_of(epsilon, delta)
    request = make_reading_request(
        checks.read_options(RowOptions, options),
        kind="set",
        labels=labels,
        max_set=checks.check_optional_whole("max set", max_set),
        separator=separator_of(separator),
        empty_sets=checks.check_flag("empty_sets", empty_sets),
    )
    find, budget = (
        checks.read_options(FindOptions, options),
        checks.read_options(BudgetOptions, options),
    )
    crowd, run, backend = prepare_run(values, name, request, make_run(seed, level))
    return Result(baskets(crowd, promised, find, budget, run), backend)


@checks.translate_errors
@checks.accept_options(BudgetOptions, RowOptions)
def simulate_places(
    values: object,
    *,
    epsilon: float,
    delta: float,
    box: Sequence[float],
    resolution: int,
    seed: int | None = None,
    level: float = 0.95,
    **options: Any,
) -> Result:
    """Count people in each hexagon of a map, by their own coordinates; needs ``mixtally[places]``.

    Parameters
    ----------
    values : frame or dict of lists
        Two columns, latitudes and longitudes in degrees.
    epsilon, delta : float
        The guarantee.
    box : sequence of float
        What the map shows, known before: south, north, west, east, in degrees.
    resolution : int
        Of H3, 0 to 8: 3 suits a continent, 6 a city.
    seed : int or None
        Makes the noise repeat, and public: for simulation only.
    level : float
        Confidence level of all intervals, in (0, 1).
    **options
        What it may cost and whom it may trust; how values are read, as ``mixtally.simulate`` has
        it.

    Returns
    -------
    Result
        The count of each hexagon.

    Raises
    ------
    DataError
        For what is no place.
    InfeasibleError
        If no plan meets the request.
    ParameterError
        For an option outside its range.

    Examples
    --------
    >>> mixtally.simulate_places({"lat": lats, "lon": lons}, epsilon=1, delta=1e-6,
    ...                          box=(24, 50, -125, -66), resolution=3)
    """
    promised, ends = guarantee_of(epsilon, delta), checks.read_list("box", box)
    if len(ends) != 4:
        raise ParameterError(
            "box",
            expected="four numbers: south, north, west, east",
            got=checks.describe_value(box),
            do="box=(24, 50, -125, -66), for example",
        )
    south, north, west, east = (checks.check_number("box", end) for end in ends)
    hexagons = build_grid(
        Box(south, north, west, east), checks.check_whole("resolution", resolution)
    )
    request = make_reading_request(checks.read_options(RowOptions, options), grid=hexagons)
    budget = checks.read_options(BudgetOptions, options)
    crowd, run, backend = prepare_run(values, None, request, make_run(seed, level))
    return Result(places(crowd, promised, hexagons, budget, run), backend)


@checks.translate_errors
@checks.accept_options(LevelOptions, BloomOptions, RowOptions)
def simulate_memoized(
    values: object,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    labels: Any = None,
    candidates: Any = None,
    state: str | Path | None = None,
    seed: int | None = None,
    level: float = 0.95,
    name: str | None = None,
    **options: Any,
) -> Result:
    """Simulate answers that every person randomizes once, keeps, and reports from.

    Parameters
    ----------
    values : list, array or series
        An answer a person.
    epsilon, delta : float or None
        Choose the least noise that keeps them over all reports.
    labels : list of str or None
        The answers in their order; read off the values when left out: for simulation only.
    candidates : list of str or None
        Words that are looked for among hashed values (with ``bloom_bits``).
    state : str, Path or None
        The file of the key of the crowd's devices, made when it is not there: the same places keep
        their memoized answers.
    seed : int or None
        Makes the noise repeat, and public: for simulation only.
    level : float
        Confidence level of all intervals, in (0, 1).
    name : str or None
        What the question is called; the column's name when left out.
    **options
        Those of ``mixtally simulate memoized``: ``permanent``, ``p``, ``q``, ``reports``;
        ``bloom_bits``, ``hashes``, ``cohorts``; how values are read, as ``mixtally.simulate`` has
        it.

    Returns
    -------
    Result
        The counts in ``tables["estimates"]``.

    Raises
    ------
    DataError
        For values that cannot be read.
    ParameterError
        For an option outside its range.

    Examples
    --------
    >>> mixtally.simulate_memoized(["yes", "no"] * 500, epsilon=1, reports=5)
    """
    listed = None if candidates is None else labels_of("candidates", candidates)
    promise = MemoizedPromise(
        checks.check_optional_number("epsilon", epsilon),
        checks.check_optional_number("delta", delta),
    )
    levels, bloom = (
        checks.read_options(LevelOptions, options),
        checks.read_options(BloomOptions, options),
    )
    rows, kept = checks.read_options(RowOptions, options), None if state is None else file_at(state)
    request = make_reading_request(rows, kind="one", labels=labels, words=listed is not None)
    crowd, run, backend = prepare_run(values, name, request, make_run(seed, level))
    return Result(
        play_memoized(crowd, promise, levels, bloom, run, candidates=listed, state=kept), backend
    )

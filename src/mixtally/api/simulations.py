"""Simulations of words, baskets, places and memoized answers.

Each function checks its arguments, reads the values, and calls the use case of the same name in
``mixtally.app``, as the command line does.
"""

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
from mixtally.app.memoized import BloomOptions, LevelOptions, play_memoized
from mixtally.app.options import MaybePromise
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
    """Simulate a search for the most frequent words of a crowd, without a list of candidates.

    Parameters
    ----------
    values : list, array or series
        One word per person.
    epsilon, delta : float
        The guarantee for all rounds together, in [0.01, 20] and [1e-15, 0.1].
    seed : int or None
        Seed of the noise, for a reproducible simulation that may not be published.
    name : str or None
        The name of the question. The default is the name of the column.
    **options
        The options of ``mixtally simulate words``.

    Returns
    -------
    Result
        The words with their estimated counts, in ``tables["words"]``.

    Raises
    ------
    DataError
        If a value is not a word.
    InfeasibleError
        If no plan meets the request.
    ParameterError
        If an option is outside its range.

    Examples
    --------
    >>> import mixtally
    >>> result = mixtally.simulate_words(
    ...     ["tea", "tea", "milk"] * 200,
    ...     epsilon=2,
    ...     delta=1e-6,
    ...     top=2,
    ...     longest=4,
    ...     alphabet="aeiklmt",
    ...     symbols=4,
    ...     way="together",
    ...     seed=1,
    ... )
    >>> [row["word"] for row in result.tables["words"]]
    ['tea', 'milk']
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
    """Simulate a search for items that are often in one basket, and for rules between items.

    Parameters
    ----------
    values : list, series or frame
        One list of items per person, or one text per person with ``separator``. With ``person`` and
        ``several="set"``, one item per row.
    epsilon, delta : float
        The guarantee, in [0.01, 20] and [1e-15, 0.1].
    labels : list of str or None
        All items in order. The default takes them from the baskets, which makes the result a
        simulation that may not be published.
    max_set : int or None
        The largest number of items in a basket. The default is the size of the largest basket,
        which makes the result a simulation that may not be published.
    separator : str or None
        The text between the items of a basket that is one text, for example ";".
    empty_sets : bool
        Whether a missing value is a basket without items.
    seed : int or None
        Seed of the noise, for a reproducible simulation that may not be published.
    level : float
        Confidence level of all intervals, in (0, 1).
    name : str or None
        The name of the question. The default is the name of the column.
    **options
        The options of ``mixtally simulate baskets``.

    Returns
    -------
    Result
        The frequent sets and the rules, in ``tables``.

    Raises
    ------
    DataError
        If a value is not a basket.
    InfeasibleError
        If no plan meets the request.
    ParameterError
        If an option is outside its range.

    Examples
    --------
    >>> import mixtally
    >>> result = mixtally.simulate_baskets(
    ...     [["tea", "milk"], ["tea"]] * 500,
    ...     labels=["tea", "milk"],
    ...     max_set=2,
    ...     epsilon=2,
    ...     delta=1e-6,
    ...     seed=1,
    ... )
    >>> [row["items"] for row in result.tables["sets"]]
    ['tea + milk']
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
    find = checks.read_options(FindOptions, options)
    budget = checks.read_options(BudgetOptions, options)
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
    """Simulate a count of people in each hexagon of a map. Needs ``mixtally[places]``.

    Parameters
    ----------
    values : frame or dict of lists
        Two columns, latitude and longitude in degrees, one row per person.
    epsilon, delta : float
        The guarantee, in [0.01, 20] and [1e-15, 0.1].
    box : sequence of float
        The area of the map: south, north, west, east, in degrees. It must be fixed without looking
        at the data.
    resolution : int
        The H3 resolution, 0 to 8: 3 for a continent, 6 for a city.
    seed : int or None
        Seed of the noise, for a reproducible simulation that may not be published.
    level : float
        Confidence level of all intervals, in (0, 1).
    **options
        The options of ``mixtally simulate places``.

    Returns
    -------
    Result
        The count of each hexagon.

    Raises
    ------
    DataError
        If a value is not a pair of coordinates.
    InfeasibleError
        If no plan meets the request.
    ParameterError
        If an option is outside its range.

    Examples
    --------
    >>> import mixtally
    >>> places = {"lat": [52.5, 48.1] * 500, "lon": [13.4, 11.6] * 500}
    >>> result = mixtally.simulate_places(
    ...     places, box=(47, 55, 5, 15), resolution=1, epsilon=1, delta=1e-6, seed=1
    ... )
    >>> len(result)
    5
    >>> round(result["811fbffffffffff"].estimate)
    501
    """
    promised, ends = guarantee_of(epsilon, delta), checks.read_list("box", box)
    if len(ends) != 4:
        raise ParameterError(
            "box",
            expected="four numbers: south, north, west, east",
            got=checks.describe_value(box),
            do="write box=(24, 50, -125, -66), for example",
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
    """Simulate reports from memoized answers, which each person randomizes once and stores.

    Parameters
    ----------
    values : list, array or series
        One answer per person.
    epsilon, delta : float or None
        The guarantee for all reports together. If epsilon is not None, the least noise that
        satisfies the guarantee is used.
    labels : list of str or None
        The answers in order. The default takes them from the values, which makes the result a
        simulation that may not be published.
    candidates : list of str or None
        The words to estimate if values are hashed (with ``bloom_bits``).
    state : str, Path or None
        The file with the key of the simulated devices, created if it does not exist. If several
        calls use the same file, each row has the same memoized answer in all of them.
    seed : int or None
        Seed of the noise, for a reproducible simulation that may not be published.
    level : float
        Confidence level of all intervals, in (0, 1).
    name : str or None
        The name of the question. The default is the name of the column.
    **options
        The options of ``mixtally simulate memoized``.

    Returns
    -------
    Result
        The counts, in ``tables["estimates"]``.

    Raises
    ------
    DataError
        If a value cannot be read.
    ParameterError
        If an option is outside its range.

    Examples
    --------
    >>> import mixtally
    >>> result = mixtally.simulate_memoized(
    ...     ["yes", "no"] * 500, labels=["yes", "no"], epsilon=1, reports=5, seed=1
    ... )
    >>> [round(row["estimate"]) for row in result.tables["estimates"]]
    [556, 455]
    """
    listed = None if candidates is None else labels_of("candidates", candidates)
    promise = checks.read_options(MaybePromise, {"epsilon": epsilon, "delta": delta})
    levels = checks.read_options(LevelOptions, options)
    bloom = checks.read_options(BloomOptions, options)
    rows = checks.read_options(RowOptions, options)
    kept = None if state is None else file_at(state)
    request = make_reading_request(rows, kind="one", labels=labels, words=listed is not None)
    crowd, run, backend = prepare_run(values, name, request, make_run(seed, level))
    return Result(
        play_memoized(crowd, promise, levels, bloom, run, candidates=listed, state=kept), backend
    )

"""Simulations of words, places and baskets, and of the flights of the demo."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from mixtally.app.baskets import FindOptions, check_options
from mixtally.app.baskets import baskets as find_baskets
from mixtally.app.limits import BudgetOptions
from mixtally.app.outcome import Outcome, Run, outcome_of_study
from mixtally.app.places import places as count_places
from mixtally.app.words import SearchOptions
from mixtally.app.words import words as find_words
from mixtally.cli import options as o
from mixtally.cli.display import show
from mixtally.cli.labels import read_labels
from mixtally.cli.option_groups import with_option_groups
from mixtally.cli.progress import progress_bars
from mixtally.cli.rows import RowOptions, read_crowd
from mixtally.errors import ParameterError
from mixtally.lab.data.places import Box, HexagonGrid, build_grid
from mixtally.lab.data.reading import Reading, RecordType, RowCombination
from mixtally.lab.simulation.demo import simulate_demo
from mixtally.lab.simulation.lab import Lab
from mixtally.model.guarantee import Guarantee
from mixtally.protocol.estimate.analysis import Analysis


@with_option_groups
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
    out_format: o.OutFormat = "csv",
    json: o.Json = False,
) -> None:
    """Find the most frequent words of a column.

    No list of words is needed: prefixes grow by one character a round as long as enough people have
    them. Every row of DATA is a person with one word.
    """
    promised, file = promise.guarantee(), rows.open_file(data)
    options.check()
    crowd = read_crowd(file, rows.add_to_reading(Reading(columns=(column,), words=True)))
    source = f"{crowd.users:,} rows of {file.name}, {crowd.people_per_row}."
    run = o.RunOptions(seed=seed, out=out, out_format=out_format, json=json)
    play(run, source, lambda made: find_words(crowd, promised, options, made))


@dataclass(frozen=True, slots=True, kw_only=True)
class GridOptions:
    """The columns of coordinates, and the hexagons of the map."""

    latitude: Annotated[str, o.option("--latitude", "The column of latitudes, degrees.", "NAME")]
    longitude: Annotated[str, o.option("--longitude", "The column of longitudes, degrees.", "NAME")]
    box: Annotated[
        str,
        o.option("--box", "Limits of the map in degrees, fixed before the collection.", "S,N,W,E"),
    ]
    resolution: Annotated[
        int,
        o.whole_option(
            "--resolution", "Resolution of H3, 0 to 8: 3 for a continent, 6 for a city."
        ),
    ]

    def grid(self) -> HexagonGrid:
        """Return the hexagons; raise ParameterError for an invalid box."""
        try:
            south, north, west, east = map(float, self.box.split(","))
        except ValueError as error:
            raise ParameterError(
                "box",
                expected="four numbers, S,N,W,E",
                got=repr(self.box),
                do="write --box 24,50,-125,-66, for example",
            ) from error
        return build_grid(Box(south, north, west, east), self.resolution)


@with_option_groups
def places(
    data: o.Data,
    promise: o.Promise,
    where: GridOptions,
    run: o.RunOptions,
    rows: RowOptions,
    budget: BudgetOptions,
) -> None:
    """Count people in hexagons of a map.

    Every row of DATA is a person at a place. Hexagons of the H3 library cover the whole box, empty
    or not. People outside the box are counted as elsewhere. Needs `mixtally[places]`.
    """
    promised, hexagons = promise.guarantee(), where.grid()
    columns = (where.latitude, where.longitude)
    reading = rows.add_to_reading(Reading(columns=columns, form=RecordType.PLACE, grid=hexagons))
    file = rows.open_file(data)
    crowd = read_crowd(file, reading)
    source = f"{crowd.users:,} rows of {file.name}, one person at a place each."
    play(run, source, lambda made: count_places(crowd, promised, hexagons, budget, made))


@dataclass(frozen=True, slots=True, kw_only=True)
class BasketOptions:
    """The columns of the baskets in the data."""

    column: Annotated[str, o.option("--column", "The column of items.", "NAME")]
    separator: Annotated[
        str | None, o.option("--set", "Cells contain several items, separated by SEP.", "SEP")
    ] = None
    max_set: Annotated[
        int | None, o.whole_option("--max-set", "Largest number of items of a basket.")
    ] = None
    empty_sets: Annotated[
        bool, o.option("--empty-sets", "An empty cell is a basket without items.")
    ] = False
    labels: o.Labels = None

    def reading(self) -> Reading:
        """Return how to read a basket."""
        return Reading(
            columns=(self.column,),
            form=RecordType.SET,
            labels=read_labels(self.labels, 2),
            separator=self.separator,
            max_set=self.max_set,
            empty_sets=self.empty_sets,
        )


@with_option_groups
def baskets(
    data: o.Data,
    basket_options: BasketOptions,
    promise: o.Promise,
    find: FindOptions,
    run: o.RunOptions,
    rows: RowOptions,
    budget: BudgetOptions,
) -> None:
    """Find items that occur together, and rules between them.

    Every row of DATA is a basket (--set). With --person-column and --several set, every row is one
    item, and all rows of a person form a basket. Rules have support, confidence and lift with
    intervals.
    """
    promised = promise.guarantee()
    if basket_options.separator is None and rows.combination is not RowCombination.SET:
        raise ParameterError(
            "baskets",
            expected="--set SEP, or --person-column NAME with --several set",
            got="neither",
            do="choose how the data list the items of a person",
        )
    check_options(find, budget)
    file = rows.open_file(data)
    crowd = read_crowd(file, rows.add_to_reading(basket_options.reading()))
    source = f"{crowd.users:,} baskets of {file.name}, {crowd.people_per_row}."
    play(run, source, lambda made: find_baskets(crowd, promised, find, budget, made))


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoRun(o.RunOptions):
    """How the flights are simulated; the report is always written."""

    out: Annotated[Path | None, o.folder_option("Where the report goes.")] = Path("mixtally-demo")
    top: o.Top = 12


@with_option_groups
def demo(epsilon: o.Epsilon = 1.0, delta: o.Delta = 1e-6, *, run: DemoRun) -> None:
    """Count real flights privately.

    Counts the destinations of 336,776 flights from New York. Epsilon and delta limit what is
    learned about any one flight.
    """
    guarantee = Guarantee(epsilon=epsilon, delta=delta)

    def flights(made: Run) -> Outcome:
        study = simulate_demo(guarantee, made.lab, Analysis(level=made.level), seed=made.seed)
        return outcome_of_study(study, made.top, ())

    play(run, "", flights)


def play(
    options: o.RunOptions,
    source: str,
    use: Callable[[Run], Outcome],
    also_written: Iterable[str] = (),
) -> None:
    """Run the use case ``use``, which simulates a crowd, and show its outcome.

    ``source`` is a sentence about the origin of the data. ``also_written`` has the paths of other
    files that the caller wrote, which the summary lists last.
    """
    with progress_bars() as progress:
        outcome = use(options.make_run(Lab(o.make_chance(options.seed), progress), source))
    show(
        outcome,
        options.out,
        json=options.json,
        out_format=options.out_format,
        also_written=also_written,
    )

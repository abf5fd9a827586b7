"""``mixtally simulate places``: people in each hexagon of a map, by their own coordinates."""

from dataclasses import dataclass, replace
from typing import Annotated

from mixtally.cli import options as o
from mixtally.cli.grouped import grouped
from mixtally.cli.limits import BudgetOptions, wish_of
from mixtally.cli.plan_files import plan_files
from mixtally.cli.progress import progress_bars
from mixtally.cli.rows import RowOptions, read_crowd
from mixtally.cli.screen import show
from mixtally.data.places import Box, Grid, grid
from mixtally.data.reading import As, Reading
from mixtally.errors import ParameterError
from mixtally.estimate.analysis import Analysis
from mixtally.report.document import HOLDS_RAW, REHEARSAL, Document, Picture, Section
from mixtally.report.hexmap import hexmap
from mixtally.report.numbers import at_most
from mixtally.report.svg import Markup
from mixtally.simulation import offers
from mixtally.simulation.central import central
from mixtally.simulation.lab import Lab, Provenance
from mixtally.simulation.run import collect
from mixtally.simulation.study import Study
from mixtally.simulation.study_document import document, released
from mixtally.simulation.truth import truth_of


@dataclass(frozen=True, slots=True, kw_only=True)
class GridOptions:
    """Where places stand in the data, and the hexagons they are put into."""

    latitude: Annotated[str, o.option("--latitude", "The column of latitudes, degrees.", "NAME")]
    longitude: Annotated[str, o.option("--longitude", "The column of longitudes, degrees.", "NAME")]
    box: Annotated[
        str, o.option("--box", "What the map shows, in degrees, known before.", "S,N,W,E")
    ]
    resolution: Annotated[
        int, o.whole_option("--resolution", "Of H3, 0 to 8: 3 suits a continent, 6 a city.")
    ]

    def grid(self) -> Grid:
        """The hexagons; raises ParameterError for a box that is none."""
        try:
            south, north, west, east = map(float, self.box.split(","))
        except ValueError as error:
            raise ParameterError(
                "box",
                wanted="four numbers, S,N,W,E",
                got=repr(self.box),
                do="--box 24,50,-125,-66, for example",
            ) from error
        return grid(Box(south, north, west, east), self.resolution)


@grouped
def places(
    data: o.Data,
    promise: o.Promise,
    where: GridOptions,
    run: o.RunOptions,
    rows: RowOptions,
    budget: BudgetOptions,
) -> None:
    """Count people in hexagons of a map.

    Every row of DATA is a person at a place. The hexagons of the H3 library cover the box whether
    anybody is there or not; who is outside of it counts as elsewhere. Needs `mixtally[places]`.
    """
    promised, hexagons = promise.guarantee(), where.grid()
    columns = (where.latitude, where.longitude)
    reading = rows.reading(Reading(columns=columns, form=As.PLACE, grid=hexagons))
    file = rows.at(data)
    crowd, lab = read_crowd(file, reading), Lab(o.chance(run.seed))
    wish = wish_of(budget, crowd.question, promised, crowd.users)
    offer, reason = offers.best(wish, lab.planner)
    with progress_bars() as progress:
        played = collect(offer, crowd, replace(lab, progress=progress), Analysis(level=run.level))
    truth = truth_of(crowd, played.result)
    about = Provenance(
        title=f"{len(hexagons.cells):,} hexagons, counted privately",
        source=f"{crowd.users:,} rows of {file.name}, each played as a person at a place.",
        raw=crowd.note,
        reason=reason,
        seed=run.seed,
    )
    beside = central(promised, truth.counts, level=run.level, seeded=run.seed is not None)
    study = Study(about, (played,), truth, beside)
    picture, public = _map(study, hexagons), released(study, run.top)
    show(
        _mapped(document(study, run.top), picture),
        run.out,
        json=run.json,
        from_data=(),  # hexagons are those of the box
        released=None if public is None else _mapped(public, picture),
        more={**plan_files(study), **_map_file(picture, seeded=run.seed is not None)},
    )


def _map(study: Study, hexagons: Grid) -> Markup:
    """The estimates alone, nothing of the truth."""
    main = study.main
    stated = main.certificate
    note = (
        f"Elsewhere: {main.estimate.counts[-1]:,.0f}. epsilon {at_most(stated.epsilon)}, "
        f"delta <= {at_most(stated.upper)}."
    )
    title = f"{main.plan.users:,} people by place"
    return hexmap(title, hexagons.outlines(), hexagons.cells, main.estimate, note)


def _mapped(shown: Document, picture: Markup) -> Document:
    """``shown`` with the map before its other sections."""
    return replace(shown, sections=lambda: (Section("Map", (Picture(picture),)), *shown.sections()))


def _map_file(picture: Markup, *, seeded: bool) -> dict[str, bytes]:
    """The map on its own; the noise of a seed is public, so that it hides no count."""
    if seeded:
        return {f"{REHEARSAL}/map.svg": f"<!-- {HOLDS_RAW} -->\n{picture}\n".encode()}
    return {"map.svg": f"{picture}\n".encode()}

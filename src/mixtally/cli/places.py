"""``mixtally simulate places``: numbers of people in each hexagon of a map."""

from dataclasses import dataclass
from typing import Annotated

from mixtally.app.limits import BudgetOptions
from mixtally.app.places import places as counted
from mixtally.cli import options as o
from mixtally.cli.option_groups import with_option_groups
from mixtally.cli.playing import play
from mixtally.cli.rows import RowOptions, read_crowd
from mixtally.errors import ParameterError
from mixtally.lab.data.places import Box, HexagonGrid, build_grid
from mixtally.lab.data.reading import Reading, RecordType


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
    play(run, source, lambda made: counted(crowd, promised, hexagons, budget, made))

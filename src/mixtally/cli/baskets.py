"""``mixtally simulate baskets``: which items people hold together, and rules between them."""

from dataclasses import dataclass
from typing import Annotated

from mixtally.app.baskets import FindOptions, check_options
from mixtally.app.baskets import baskets as found
from mixtally.app.limits import BudgetOptions
from mixtally.cli import options as o
from mixtally.cli.labels import read_labels
from mixtally.cli.option_groups import with_option_groups
from mixtally.cli.playing import play
from mixtally.cli.rows import RowOptions, read_crowd
from mixtally.errors import ParameterError
from mixtally.lab.data.reading import Reading, RecordType, RowCombination


@dataclass(frozen=True, slots=True, kw_only=True)
class BasketOptions:
    """Where baskets stand in the data."""

    column: Annotated[str, o.option("--column", "The column of items.", "NAME")]
    separator: Annotated[
        str | None, o.option("--set", "Cells hold several items, apart by SEP.", "SEP")
    ] = None
    max_set: Annotated[int | None, o.whole_option("--max-set", "Most items of a basket.")] = None
    empty_sets: Annotated[
        bool, o.option("--empty-sets", "An empty cell is a basket without items.")
    ] = False
    labels: o.Labels = None

    def reading(self) -> Reading:
        """How a basket is read."""
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
    held: BasketOptions,
    promise: o.Promise,
    find: FindOptions,
    run: o.RunOptions,
    rows: RowOptions,
    budget: BudgetOptions,
) -> None:
    """Find items that people hold together, and rules between them.

    Every row of DATA is a basket (--set), or every row is an item and --person-column with
    --several set says whose. Rules have support, confidence and lift with intervals.
    """
    promised = promise.guarantee()
    _check(held, rows)
    check_options(find, budget)
    file = rows.open_file(data)
    crowd = read_crowd(file, rows.add_to_reading(held.reading()))
    source = f"{crowd.users:,} baskets of {file.name}, {crowd.people_per_row}."
    play(run, source, lambda made: found(crowd, promised, find, budget, made))


def _check(held: BasketOptions, rows: RowOptions) -> None:
    """Raises ParameterError for data that are no baskets."""
    if held.separator is None and rows.combination is not RowCombination.SET:
        raise ParameterError(
            "baskets",
            expected="--set SEP, or --person-column NAME with --several set",
            got="neither",
            do="say how several items of a person stand in the data",
        )

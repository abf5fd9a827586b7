"""``mixtally simulate baskets``: items that occur together, and rules between them."""

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
    _check(basket_options, rows)
    check_options(find, budget)
    file = rows.open_file(data)
    crowd = read_crowd(file, rows.add_to_reading(basket_options.reading()))
    source = f"{crowd.users:,} baskets of {file.name}, {crowd.people_per_row}."
    play(run, source, lambda made: found(crowd, promised, find, budget, made))


def _check(basket_options: BasketOptions, rows: RowOptions) -> None:
    """Raise ParameterError if the options do not describe baskets."""
    if basket_options.separator is None and rows.combination is not RowCombination.SET:
        raise ParameterError(
            "baskets",
            expected="--set SEP, or --person-column NAME with --several set",
            got="neither",
            do="choose how the data list the items of a person",
        )

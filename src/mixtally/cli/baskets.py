"""``mixtally simulate baskets``: which items people hold together, and rules between them."""

from dataclasses import dataclass, replace
from typing import Annotated

from mixtally.cli import options as o
from mixtally.cli.grouped import grouped
from mixtally.cli.labels import read_labels
from mixtally.cli.limits import BudgetOptions, wish_of
from mixtally.cli.progress import progress_bars
from mixtally.cli.rows import RowOptions, read_crowd
from mixtally.cli.screen import show
from mixtally.data.reading import As, Reading, Several
from mixtally.errors import ParameterError, in_range
from mixtally.ground.codec import canonical
from mixtally.report.numbers import error_text
from mixtally.simulation import offers
from mixtally.simulation.baskets.document import document
from mixtally.simulation.baskets.facts import facts, published
from mixtally.simulation.baskets.find import find_sets
from mixtally.simulation.lab import Lab, Provenance

_WHOLE = "flip-blank"
"""Sends baskets whole, among blanks."""


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
            form=As.SET,
            labels=read_labels(self.labels),
            separator=self.separator,
            max_set=self.max_set,
            empty_sets=self.empty_sets,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FindOptions:
    """Which sets and rules are wanted."""

    support: Annotated[
        int, o.whole_option("--support", "Only sets that surely more people than this hold.")
    ] = 0
    confidence: Annotated[
        float,
        o.option("--confidence", "Only rules whose confidence is surely at least this.", "C"),
    ] = 0.0
    largest: Annotated[
        int, o.whole_option("--largest", "Most items of a set that is looked for, 2 to 8.")
    ] = 3


@grouped
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
    _check(held, find, rows, budget)
    file = rows.at(data)
    crowd, lab = read_crowd(file, rows.reading(held.reading())), Lab(o.chance(run.seed))
    wish = wish_of(budget, crowd.question, promised, crowd.users)
    option, _ = offers.best(replace(wish, protocol=_WHOLE), lab.planner, pairs=True)
    with progress_bars() as progress:
        found = find_sets(
            option,
            crowd,
            replace(lab, progress=progress),
            support=find.support,
            level=run.level,
            largest=find.largest,
        )
    about = Provenance(
        title=f"Items of {held.column!r} that are held together",
        source=f"{crowd.users:,} baskets of {file.name}, each played as a person's.",
        raw=crowd.note,
        reason="Baskets are sent whole among blanks (flip-blank), so that the items of one can be "
        f"counted together: a standard error of {error_text(option.standard_error)} counts.",
        seed=run.seed,
    )
    released = None
    if run.seed is None:
        released = document(found, published(found, about, find.confidence), run.top)
    show(
        document(found, facts(found, about, find.confidence, crowd), run.top),
        run.out,
        json=run.json,
        from_data=crowd.from_data,
        released=released,
        more={"plan.json": canonical(option.plan)},
    )


def _check(held: BasketOptions, find: FindOptions, rows: RowOptions, budget: BudgetOptions) -> None:
    """Raises ParameterError for data that are no baskets, and for ends that mean nothing."""
    if held.separator is None and rows.taken is not Several.SET:
        raise ParameterError(
            "baskets",
            wanted="--set SEP, or --person-column NAME with --several set",
            got="neither",
            do="say how several items of a person stand in the data",
        )
    in_range("confidence", find.confidence, 0.0, 1.0, "0 shows all rules")
    if budget.trust.protocol not in (None, _WHOLE):
        raise ParameterError(
            "--protocol",
            wanted=f"{_WHOLE}, which sends baskets whole",
            got=repr(budget.trust.protocol),
            do="leave it out",
        )

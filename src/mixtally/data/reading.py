"""How the columns of a file are read as records: which of them, as what, with which labels."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from mixtally.encode.numbers import Scale
from mixtally.errors import ParameterError
from mixtally.records.question import MOST_BITS, MOST_SET, Question


class As(StrEnum):
    """What a record is read as."""

    ONE = "one"
    SET = "set"
    BITS = "bits"
    ATTRIBUTES = "attributes"
    NUMBER = "number"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Which columns hold the records, and how.

    where
      labels      the bins in their order; None to read them off the data
      separator   between the labels of a set
      max_set     the most labels of a set; None for the largest set in the data
      empty_sets  whether an empty cell is a set without labels; otherwise it is refused
      scale       where numbers are cut
    """

    columns: tuple[str, ...]
    form: As = As.ONE
    labels: tuple[str, ...] | None = None
    separator: str = ";"
    max_set: int | None = None
    empty_sets: bool = False
    scale: Scale | None = None

    def __post_init__(self) -> None:
        few, most = {As.BITS: (1, MOST_BITS), As.ATTRIBUTES: (2, MOST_SET)}.get(self.form, (1, 1))
        if not few <= len(set(self.columns)) == len(self.columns) <= most:
            count = "one column" if most == 1 else f"{few} to {most} different columns"
            raise ParameterError(
                "columns",
                wanted=f"{count} for records read as {self.form}",
                got=", ".join(map(repr, self.columns)) or "none",
                do="several columns are read with --as bits or --as attributes",
            )
        if self.max_set is not None and not 1 <= self.max_set <= MOST_SET:
            raise ParameterError(
                "max set",
                wanted=f"an integer in [1, {MOST_SET}]",
                got=self.max_set,
                do="it is the most labels of a set that are hidden",
            )
        if not self.separator:
            raise ParameterError(
                "set", wanted="the text between labels", got="nothing", do="--set ';', for example"
            )

    @property
    def name(self) -> str:
        """What the question is called: the column, or all of them."""
        return "+".join(self.columns)

    @property
    def edges(self) -> NDArray[np.float64] | None:
        """Where numbers are cut into bins, shape (bins + 1,); None for no numbers."""
        return None if self.scale is None else self.scale.edges

    @property
    def fixed(self) -> bool:
        """Whether the question is known without looking at the data."""
        if self.form is As.SET and self.max_set is None:
            return False
        return self.labels is not None or self.form in (As.BITS, As.NUMBER)

    def labelled(self, parts: Sequence[Question]) -> "Reading":
        """This reading with the labels of a plan for each attribute, bare or as column=value."""
        if self.form is not As.ATTRIBUTES or len(parts) != len(self.columns):
            return self
        labels = [
            f"{column}={part.label(i).removeprefix(column + '=')}"
            for column, part in zip(self.columns, parts, strict=True)
            for i in range(part.bins)
        ]
        return replace(self, labels=tuple(labels))

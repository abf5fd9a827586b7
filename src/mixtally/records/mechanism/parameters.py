"""What people say of a mechanism: its parameters by the names of their options."""

from dataclasses import dataclass, fields

from mixtally.records.guarantee import Observer


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """Parameters by the names of their options; None for what was not given.

    where
      users, fakes   in the whole collection; honest or not
      flip           flip probability, in [2^-40, 1/2]
      replaced       chance that a uniform bin takes the place of one's own, in (0, 1)
      bins, bits     of a value or a set; of free bits
      ones           other people known to hold a one (single-bit)
      background     "zero" when all others are known to hold zeros (free bits)
      split          whether every bit, or every attribute, is a message of its own
      count_crowd    whether other people's flips count beside the fakes
    """

    users: int | None = None
    fakes: int | None = None
    flip: float | None = None
    replaced: float | None = None
    bins: int | None = None
    bits: int | None = None
    ones: int | None = None
    max_set: int | None = None
    repeats: int | None = None
    shape_decay: float | None = None
    shape_shift: int | None = None
    shape_variance: int | None = None
    mixes: int | None = None
    observer: Observer = Observer.MESSAGES
    background: str | None = None
    split: bool = False
    count_crowd: bool = False

    def given(self) -> set[str]:
        """Names of what was given."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        usual = Observer.MESSAGES
        return {n for n, v in values.items() if not (v is None or v is False or v is usual)}

    def pieces(self) -> int:
        """Messages of a record of values: as many as it may hold, when it is split."""
        return self.max_set or 1 if self.split else 1

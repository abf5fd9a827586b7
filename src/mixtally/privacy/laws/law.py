"""What every entry of the catalogue of laws can say."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from mixtally.privacy.laws.ask import Ask
from mixtally.privacy.numerics.bracket import Bracket


class Quote(NamedTuple):
    """A price with its source and its assumption."""

    ends: Bracket
    source: str
    assumption: str


@dataclass(frozen=True, slots=True)
class Law:
    """One entry: parameters it must have, parameters it may have, and its price.

    where
      upper     the price's upper end alone, where that is cheaper
      expected  what the upper end most likely is, not proved, where that is cheaper still
      quick     a bound for all crowds at once, far above the price; None where there is none
      sought    what ``calibrate`` may find, in this order
      reach     the local epsilon: what one message tells whoever it can be traced by
      repeated  whether the price knows ``repeats`` by itself
    """

    needs: frozenset[str]
    may: frozenset[str]
    price: Callable[[Ask, float], Quote]
    upper: Callable[[Ask, float], float]
    expected: Callable[[Ask, float], float]
    sought: tuple[str, ...]
    reach: Callable[[Ask], float]
    repeated: Callable[[Ask], bool]
    quick: Callable[[Ask, float], float] | None = None

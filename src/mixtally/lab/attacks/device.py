"""The code under attack: the production randomizer and mix, or a broken replacement.

Attacks draw all messages through a ``Device``. Tests replace its functions by broken ones, which an
attack must detect.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from typing import Protocol as Interface

import msgspec

from mixtally.device.client import draw
from mixtally.device.client.net.seal import seal_part
from mixtally.device.contract.part import ContractPart as BarePart
from mixtally.device.contract.part import read_part
from mixtally.device.wire.envelope import Sealer
from mixtally.errors import ParameterError
from mixtally.model.contract import Part, Recipe
from mixtally.model.contract_json import stringify_large_integers
from mixtally.model.layout import Layout
from mixtally.primitives.bits import Rows
from mixtally.primitives.chance import Chance
from mixtally.primitives.memo import Memo
from mixtally.protocol.mixing import draw_recipe_messages, shuffle
from mixtally.protocol.randomize import draw_part_fakes, randomize_records
from mixtally.protocol.randomize.bins import Records

_MOST_BYTES = 1_000_000
"""The memory limit of a device's tables, in bytes."""


def _make_with_memo(draws: Callable[..., Any]) -> Callable[[], Callable[..., Any]]:
    """Return a factory of functions that call ``draws``, each with a new memo.

    Every device makes its own function, so the memo is discarded with the device.
    """
    return lambda: partial(draws, memo=Memo(_MOST_BYTES))


@dataclass(frozen=True, slots=True)
class Device:
    """The code that draws noise; by default the production code of people's devices and of mixes.

    Attributes
    ----------
    reports, fakes, added : callable
        The batch code: it draws the messages of many people, their fakes, and the fakes of a hop.
    message, fake, coins : callable
        The code of a single person's device: it draws one message, one fake, and the number of
        fakes.
    record : callable
        The code of a single person's device that draws all messages of a set in clear.
    sealed : callable
        The code that seals one part of a single person's bundle in envelopes.
    """

    reports: Callable[[Part, Records, Chance], Rows] = field(
        default_factory=_make_with_memo(randomize_records)
    )
    fakes: Callable[[Part, int, Chance], tuple[Rows, int]] = field(
        default_factory=_make_with_memo(draw_part_fakes)
    )
    added: Callable[[Recipe, Layout, Chance], Rows] = draw_recipe_messages
    shuffle: Callable[[Rows, Chance], Rows] = shuffle
    message: Callable[[BarePart, Sequence[int], draw.RandomWords], bytes] = draw.draw_message
    record: Callable[[BarePart, Sequence[int], draw.RandomWords], list[bytes]] = draw.draw_record
    fake: Callable[[BarePart, draw.RandomWords], bytes] = draw.draw_fake
    coins: Callable[[Sequence[BarePart], draw.RandomWords], list[int]] = draw.draw_fake_counts
    sealed: Callable[[Sealer, int, BarePart, Sequence[bytes]], list[bytes]] = seal_part


def bare_part(part: Part) -> BarePart:
    """Return the part as a device reads it from a contract."""
    return read_part(stringify_large_integers(msgspec.to_builtins(part)), "part")


class Play(Interface):
    """A simulation of a whole round in one process, including all shuffles and the tally."""

    def __call__(
        self,
        parts: Sequence[Part],
        mixes: int,
        crowds: Sequence[Records],
        chance: Chance,
        *,
        watch: Callable[[Rows], None],
    ) -> Any:
        """Return the result of the round.

        For each part, ``watch`` is called with the messages that the collector tallies.
        """
        ...


def refuse_to_play(*_: object, **__: object) -> None:
    """Raise ParameterError; the default of a lab that cannot simulate a whole round."""
    raise ParameterError(
        "collection",
        expected="a lab that can play one",
        got="one that cannot",
        do="hand it mixtally.lab.simulation.play.play_parts",
    )

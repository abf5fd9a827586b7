"""A whole round in one process: all people, all hops in order, and the collector.

``run``, ``epochs``, ``baskets``, ``heavy`` and the attacks play rounds with these functions. The
parts of a plan are separate streams, played one after the other. Every honest hop adds the fakes of
its recipe to all messages that it received, and shuffles. The collector drops impossible messages
and tallies the others. `HopConduct` describes what dishonest hops do; ``app.simulate`` sets it.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from mixtally.errors import ParameterError, in_range
from mixtally.model.contract import Part, Plan
from mixtally.model.estimates import Tally
from mixtally.model.received import PartReceived, Received
from mixtally.primitives.bits import Rows, spans
from mixtally.primitives.chance import Chance
from mixtally.primitives.draw import draw_permutation
from mixtally.primitives.memo import Memo
from mixtally.primitives.progress import Progress, ignore_progress
from mixtally.protocol.mixing import check_shuffle_memory, draw_recipe_messages, shuffle
from mixtally.protocol.randomize import draw_part_fakes, randomize_records
from mixtally.protocol.randomize.bins import Records
from mixtally.protocol.tally.fold import add_tallies, tally_messages
from mixtally.protocol.tally.sift import sift

MOST_BATCH_BYTES = 8_000_000_000
"""Memory that the messages of a part may take in one mix."""
_SPAN_BYTES = 1 << 22
"""Bytes of messages that are randomized at a time."""
_MEMO_BYTES = 1_000_000
"""Bytes of tables that the randomizer computes once and uses for all spans."""


@dataclass(frozen=True, slots=True)
class HopConduct:
    """The behavior of dishonest hops in an attack on the first person of the crowd.

    ``leaves_out`` is the share, in [0, 1], of all other people's messages that hop 1 drops if it is
    dishonest. Later hops drop nothing, because only the first hop receives messages from people.
    ``draws`` says whether dishonest hops draw the fakes of their recipe; they reveal these fakes to
    the observer. ``declares`` says whether they claim to have drawn the fakes.

    Raises ParameterError if the share is out of range.
    """

    leaves_out: float = 1.0
    draws: bool = False
    declares: bool = True

    def __post_init__(self) -> None:
        in_range("share left out", self.leaves_out, 0.0, 1.0, "1 leaves out all but one person's")


WORST_CONDUCT = HopConduct()


@dataclass(frozen=True, slots=True)
class DishonestHops:
    """The numbers of the dishonest hops, counted from 1, and their conduct."""

    dishonest: Collection[int] = frozenset()
    conduct: HopConduct = WORST_CONDUCT

    def check(self, mixes: int) -> None:
        """Raise ParameterError for a dishonest hop whose number exceeds ``mixes``."""
        if strange := sorted(set(self.dishonest) - set(range(1, mixes + 1))):
            raise ParameterError(
                "dishonest hops",
                expected=f"numbers in 1..{mixes}",
                got=", ".join(map(str, strange)),
                do="hops are counted from 1",
            )


ALL_HONEST = DishonestHops()


@dataclass(frozen=True, slots=True, eq=False)
class PlayedRound:
    """A round that was played, with one tally for each part.

    ``leaked`` has the fakes that dishonest hops drew and revealed, as one tally for each part.
    """

    received: Received
    tallies: tuple[Tally, ...]
    leaked: tuple[Tally, ...]


def play(
    plan: Plan,
    crowds: Sequence[Records],
    chance: Chance,
    progress: Progress = ignore_progress,
    *,
    hops: DishonestHops = ALL_HONEST,
    pairs: bool = False,
    watch: Callable[[Rows], None] = ignore_progress,
) -> PlayedRound:
    """Play one round of ``plan`` in which all people take part; see `play_parts`."""
    return play_parts(
        plan.parts, plan.hops, crowds, chance, progress, hops=hops, pairs=pairs, watch=watch
    )


def play_parts(
    parts: Sequence[Part],
    mixes: int,
    crowds: Sequence[Records],
    chance: Chance,
    progress: Progress = ignore_progress,
    *,
    hops: DishonestHops = ALL_HONEST,
    pairs: bool = False,
    watch: Callable[[Rows], None] = ignore_progress,
) -> PlayedRound:
    """Play one round in which all people take part.

    Parameters
    ----------
    parts : sequence of Part
        The streams of messages of a record.
    mixes : int
        The number of mixes in the chain.
    crowds : sequence of Records
        The bins or bits of all people for each part, in the form that ``randomize_records`` takes.
    chance : Chance
        The source of all randomness.
    progress : Progress
        Called while messages are made.
    hops : DishonestHops
        Which mixes are dishonest, and what they do.
    pairs : bool
        Whether pairs of bits are counted.
    watch : callable
        Called once for each part, with the messages that are tallied.

    Raises
    ------
    ParameterError
        If a dishonest hop does not exist, or a batch exceeds the memory of a mix. In these cases no
        message is drawn.
    """
    hops.check(mixes)
    people = len(crowds[0])
    for part in parts:
        check_memory(part, people, mixes)
    setup = _RoundSetup(mixes, hops, chance, progress, pairs, watch)
    streams = [_play_part(part, some, setup) for part, some in zip(parts, crowds, strict=True)]
    received = Received(contributors=people, parts=tuple(one.received for one in streams))
    tallies = tuple(one.tally for one in streams)
    return PlayedRound(received, tallies, tuple(one.leaked for one in streams))


def check_memory(part: Part, people: int, hops: int) -> None:
    """Check that the messages of a part fit into the memory of a mix.

    The check assumes that each person sends the most messages that the part allows, and that each
    hop adds the mean number of fakes of its recipe.

    Raises
    ------
    ParameterError
        If the messages exceed the memory.
    """
    most = people * part.most + hops * part.mean_added
    check_shuffle_memory(most, part.layout.message_bytes, MOST_BATCH_BYTES)


@dataclass(frozen=True, slots=True, eq=False)
class _RoundSetup:
    """The settings that all parts of a round share."""

    mixes: int
    hops: DishonestHops
    chance: Chance
    progress: Progress
    pairs: bool
    watch: Callable[[Rows], None]


@dataclass(frozen=True, slots=True, eq=False)
class _PlayedPart:
    """The messages received for a part, and the fakes that dishonest hops revealed."""

    received: PartReceived
    tally: Tally
    leaked: Tally


def _play_part(part: Part, records: Records, setup: _RoundSetup) -> _PlayedPart:
    """Play one part, from the people through all hops to its tally."""
    hops, chance = setup.hops, setup.chance
    batch, own = _send_messages(part, records, setup)
    # Only the first hop receives messages from people, so only it can select whose messages it
    # drops.
    if 1 in hops.dishonest:
        batch = _leave_out(batch, own, hops.conduct.leaves_out, chance)
    # An observer subtracts the revealed fakes, so a tally of them is all that matters.
    leaked = tally_messages(part.layout, part.layout.blank_rows(0))
    declared: list[int | None] = []
    for hop in range(1, setup.mixes + 1):
        honest = hop not in hops.dishonest
        drawn = part.layout.blank_rows(0)
        if honest or hops.conduct.draws:
            drawn = draw_recipe_messages(part.recipe, part.layout, chance)
        declared.append(_declare_fakes(part, len(drawn), hops.conduct, honest=honest))
        if not honest:
            leaked = add_tallies(leaked, tally_messages(part.layout, drawn))
        if len(drawn):
            batch = np.concatenate([batch, drawn])
        del drawn  # the shuffle below holds the batch twice, so memory is short
        batch = shuffle(batch, chance) if honest else batch
        setup.progress("mix", hop, setup.mixes)
    # Only a dishonest sender writes impossible messages, which would distort the counts.
    sifted = sift(part.layout, batch)
    setup.watch(sifted.rows)
    received = PartReceived(
        declared=tuple(declared), received=len(sifted.rows), dropped=sifted.dropped
    )
    return _PlayedPart(
        received, tally_messages(part.layout, sifted.rows, pairs=setup.pairs), leaked
    )


def _send_messages(part: Part, records: Records, setup: _RoundSetup) -> tuple[Rows, int]:
    """Return the messages of all people, and the number of messages of the first person.

    The first person's messages come first, because this person is the one whom a dishonest first
    hop attacks, see `_leave_out`.
    """
    memo, found, users = Memo(_MEMO_BYTES), list[Rows](), len(records)
    size = max(1, _SPAN_BYTES // part.layout.message_bytes // part.most)
    # The first person is drawn alone, so that the number of their messages is known.
    cut = [slice(0, 1), *(slice(one.start + 1, one.stop + 1) for one in spans(users - 1, size))]
    for span in cut:
        found.append(randomize_records(part, records[span], setup.chance, memo))
        found.append(draw_part_fakes(part, span.stop - span.start, setup.chance, memo)[0])
        setup.progress("randomize", span.stop, users)
    own, filled = len(found[0]) + len(found[1]), 0
    batch = part.layout.blank_rows(sum(map(len, found)))
    for place, rows in enumerate(found):
        batch[filled : filled + len(rows)] = rows
        # Each piece is freed as soon as it is copied, so that the batch is not in memory twice.
        filled, found[place] = filled + len(rows), rows[:0].copy()
    return batch, own


def _leave_out(batch: Rows, own_messages: int, share: float, chance: Chance) -> Rows:
    """Return the batch with a random ``share`` of all messages but the first ones removed.

    The first ``own_messages`` messages are those of the attacked person.
    """
    others = len(batch) - own_messages
    stay = own_messages + draw_permutation(chance, others)[: others - round(share * others)]
    return np.concatenate([batch[:own_messages], batch[stay]])


def _declare_fakes(part: Part, drawn: int, conduct: HopConduct, *, honest: bool) -> int | None:
    """Return the number of fakes that a hop declares; None if it declares that it drew none.

    ``drawn`` is the number that the hop drew. A dishonest hop that drew no fakes but declares some
    states their expected number, which is plausible.
    """
    if not (honest or conduct.declares):
        return None
    return (drawn if honest or conduct.draws else part.mean_added) or None

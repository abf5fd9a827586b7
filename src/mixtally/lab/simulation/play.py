"""Play a round in one process: every person, every hop in its order, every bit, the collector.

Parts of a plan are streams of their own, played one after the other. Every honest hop adds its
recipe to all that it received and shuffles. The collector drops impossible messages and tallies the
others. Dishonest hops may be among them: what they do is their ``Conduct``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mixtally.lab.simulation.hop_conduct import ALL_HONEST, DishonestHops, HopConduct
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
_SPAN_BYTES = 1 << 22
_MEMO_BYTES = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class PlayedRound:
    """A round as it was played, one tally a part.

    where
      leaked   what dishonest hops drew and told the observer, a tally a part
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
    """One round of ``plan`` in which everybody takes part; as ``play_parts`` has it."""
    return play_parts(
        plan.parts, plan.hops, crowds, chance, progress, hops=hops, pairs=pairs, watch=watch
    )


def play_parts(
    parts: Sequence[Part],
    row: int,
    crowds: Sequence[Records],
    chance: Chance,
    progress: Progress = ignore_progress,
    *,
    hops: DishonestHops = ALL_HONEST,
    pairs: bool = False,
    watch: Callable[[Rows], None] = ignore_progress,
) -> PlayedRound:
    """One round in which everybody takes part, through ``row`` mixes.

    where
      crowds   everybody's bin or bits for each part, as ``randomize.part_reports`` takes them
      pairs    whether pairs of bits are counted as well
      watch    called with the messages of each part that are tallied, for what else is in them

    Raises ParameterError for dishonest hops that are not there and when a batch does not fit the
    memory of a mix, before the work.
    """
    hops.check(row)
    people = len(crowds[0])
    for part in parts:
        check_memory(part, people, row)
    scene = _RoundSetup(row, hops, chance, progress, pairs, watch)
    streams = [_play_part(part, some, scene) for part, some in zip(parts, crowds, strict=True)]
    received = Received(contributors=people, parts=tuple(one.received for one in streams))
    tallies = tuple(one.tally for one in streams)
    return PlayedRound(received, tallies, tuple(one.leaked for one in streams))


def check_memory(part: Part, people: int, hops: int) -> None:
    """Raises ParameterError when all messages of a part do not fit the memory of a mix."""
    most = people * part.most + hops * part.mean_added
    check_shuffle_memory(most, part.layout.message_bytes, MOST_BATCH_BYTES)


@dataclass(frozen=True, slots=True, eq=False)
class _RoundSetup:
    """What all parts of a round are played with."""

    row: int
    hops: DishonestHops
    chance: Chance
    progress: Progress
    pairs: bool
    watch: Callable[[Rows], None]


@dataclass(frozen=True, slots=True, eq=False)
class _PlayedPart:
    """A part as it came, and what dishonest hops told."""

    received: PartReceived
    tally: Tally
    leaked: Tally


def _play_part(part: Part, records: Records, scene: _RoundSetup) -> _PlayedPart:
    """One part, from people over all hops to its tally."""
    hops, chance = scene.hops, scene.chance
    batch, own = _send_messages(part, records, scene)
    if 1 in hops.dishonest:
        batch = _leave_out(batch, own, hops.conduct.leaves_out, chance)
    leaked = tally_messages(part.layout, part.layout.blank_rows(0))
    declared: list[int | None] = []
    for hop in range(1, scene.row + 1):
        honest = hop not in hops.dishonest
        drawn = part.layout.blank_rows(0)
        if honest or hops.conduct.draws:
            drawn = draw_recipe_messages(part.recipe, part.layout, chance)
        declared.append(_declare_fakes(part, len(drawn), hops.conduct, honest=honest))
        if not honest:
            leaked = add_tallies(leaked, tally_messages(part.layout, drawn))
        if len(drawn):
            batch = np.concatenate([batch, drawn])
        del drawn  # a shuffle holds the batch twice
        batch = shuffle(batch, chance) if honest else batch
        scene.progress("mix", hop, scene.row)
    sifted = sift(part.layout, batch)
    scene.watch(sifted.rows)
    received = PartReceived(
        declared=tuple(declared), received=len(sifted.rows), dropped=sifted.dropped
    )
    return _PlayedPart(
        received, tally_messages(part.layout, sifted.rows, pairs=scene.pairs), leaked
    )


def _send_messages(part: Part, records: Records, scene: _RoundSetup) -> tuple[Rows, int]:
    """Everybody's messages, the first person's in front, and how many these are."""
    memo, found, users = Memo(_MEMO_BYTES), list[Rows](), len(records)
    size = max(1, _SPAN_BYTES // part.layout.message_bytes // part.most)
    cut = [slice(0, 1), *(slice(one.start + 1, one.stop + 1) for one in spans(users - 1, size))]
    for span in cut:
        found.append(randomize_records(part, records[span], scene.chance, memo))
        found.append(draw_part_fakes(part, span.stop - span.start, scene.chance, memo)[0])
        scene.progress("randomize", span.stop, users)
    own, filled = len(found[0]) + len(found[1]), 0
    batch = part.layout.blank_rows(sum(map(len, found)))
    for place, rows in enumerate(found):
        batch[filled : filled + len(rows)] = rows
        filled, found[place] = filled + len(rows), rows[:0].copy()  # memory holds little more
    return batch, own


def _leave_out(batch: Rows, own: int, share: float, chance: Chance) -> Rows:
    """The batch with a ``share`` of all but its first ``own`` messages left out, at random."""
    others = len(batch) - own
    stay = own + draw_permutation(chance, others)[: others - round(share * others)]
    return np.concatenate([batch[:own], batch[stay]])


def _declare_fakes(part: Part, drawn: int, conduct: HopConduct, *, honest: bool) -> int | None:
    """What a hop says it added, None for none; one that drew nothing may say what is likely."""
    if not (honest or conduct.declares):
        return None
    return (drawn if honest or conduct.draws else part.mean_added) or None

"""difference: the same crowd is asked twice and one person answers differently, or not again.

*changed*: the person answers a and then b, or b and then a; the log ratios of both batches add up.
Two collections are promised the composition of two certificates. *absent*: the person is gone the
second time, and the attacker, who does not know what others hold, takes the second batch from the
first, which removes the crowd but not its noise. The second batch says nothing of the person, so
the promise of one collection covers it.
"""

from dataclasses import replace

import numpy as np

from mixtally.ground.bits import Counts, Rows, spans
from mixtally.lab.attack.games import game_of, play, quick_runs, told
from mixtally.lab.attack.outcome import Lab, Outcome, told_apart
from mixtally.lab.attack.target import Target, left_after
from mixtally.lab.attack.trial import Worlds
from mixtally.lab.attack.uniform_flips import fakes_in_view
from mixtally.protocols.base import FakeSource, Protocol
from mixtally.protocols.clear_shaped import ClearShaped
from mixtally.protocols.flip_blank import FlipBlank
from mixtally.protocols.flip_uniform import FlipUniform
from mixtally.tally.fold import tally_messages

NAME = "difference"
_SPAN = 1 << 20


def run(target: Target, lab: Lab) -> list[Outcome]:
    """A changed answer; for records of one value also an absent person."""
    lab = replace(lab, error=lab.error / 2.0)
    found = [_changed(target, lab)]
    one_valued = not isinstance(target.protocol, FlipBlank) or target.protocol.max_set == 1
    if one_valued and target.protocol.name not in ("flip", "single-bit"):
        found.append(_absent(target, lab))
    return found


def _changed(target: Target, lab: Lab) -> Outcome:
    people = target.users - 1 if target.crowd else 0
    game = game_of(target.protocol, people, target.protocol.fakes)
    runs = lab.runs if lab.runs is not None else quick_runs(game.cost, 0.5)
    lab = replace(lab, runs=runs)
    first, second = play(game, lab, NAME), play(game, lab, NAME)
    worlds = Worlds(first.u - second.v, first.v - second.u)
    worlds = Worlds(np.nan_to_num(worlds.u, nan=0.0), np.nan_to_num(worlds.v, nan=0.0))
    promised, delta = 2.0 * target.epsilon, 2.0 * target.delta
    if target.certified:
        sure = target.protocol.surely(target.honest_fraction)
        promised = min(promised, left_after(sure, 2, delta))
    return told_apart(
        NAME, "asked twice, answer changed", worlds, lab,
        promised=promised, delta=delta, played=f"twice: {game.played}",
        test="sum of both batches' log-likelihood ratios; as good as tell-apart's",
    )  # fmt: skip


def _absent(target: Target, lab: Lab) -> Outcome:
    protocol, users = target.protocol, target.users
    runs = lab.runs if lab.runs is not None else quick_runs(_cost(protocol, users), 0.5)
    u, v = np.empty(runs), np.empty(runs)
    for i in told(runs, lab, NAME + " (absent)"):
        first, second = (_noise(protocol, users, lab) for _ in range(2))
        rest = first - second
        for values, bin_index in ((u, 0), (v, 1)):
            own = _own(protocol, bin_index, lab)
            values[i] = float((rest + own) @ (1, -1))
    return told_apart(
        NAME, "asked twice, then absent", Worlds(u, v), lab,
        promised=target.epsilon, delta=target.delta,
        played=f"{users - 1:,} others spread over the bins, unknown to the attacker, and "
        f"{protocol.fakes:,} fakes, twice; two bins of the tallies",
        test="difference of the tallies' differences in two bins; not optimal",
    )  # fmt: skip


def _cost(protocol: Protocol, users: int) -> float:
    """Nanoseconds of both collections."""
    if protocol.flip_threshold is None:
        return 120.0 * protocol.fakes
    return 120.0 * users + 10.0 * protocol.fakes


def _own(protocol: Protocol, bin_index: int, lab: Lab) -> Counts:
    """The person's message, in the first two bins."""
    small = _small(protocol)
    rows = lab.device.reports(small, np.array([bin_index]), lab.chance)
    return tally_messages(small.layout, rows).counts[:2]


def _small(protocol: Protocol) -> Protocol:
    """The two bins of interest and one for all others, where bins are independent."""
    if isinstance(protocol, (FlipBlank, FlipUniform)):
        return replace(protocol, bins=3, crowd=0)
    return protocol


def _fakes(protocol: Protocol, count: int, lab: Lab) -> Rows:
    """Fakes, at least their first two bins."""
    if isinstance(protocol, FlipUniform):
        view, flip = min(3, protocol.bins), protocol.threshold
        return fakes_in_view(protocol.bins, view, flip, count, lab.chance, lab.device)
    return lab.device.fakes(_small(protocol), count, lab.chance)


def _noise(protocol: Protocol, users: int, lab: Lab) -> Counts:
    """Tallied counts of the first two bins without the person, as far as they are not certain.

    In clear what others hold is the same twice and cancels; it is left out.
    """
    small = _small(protocol)
    if protocol.fake_source is FakeSource.MIX and isinstance(protocol, ClearShaped):
        two = ClearShaped.shaped(2, protocol.ratio, protocol.shift, protocol.mixes)
        every = [lab.device.shaped(two.weights, two.layout, lab.chance) for _ in range(two.mixes)]
        return tally_messages(two.layout, np.concatenate(every)).counts
    total = np.zeros(2, dtype=np.int64)
    if protocol.flip_threshold is not None:
        each = (users - 1) // protocol.bins
        codes = np.repeat(np.arange(3), [each, each, users - 1 - 2 * each])
        for span in spans(len(codes), _SPAN):
            rows = lab.device.reports(small, codes[span], lab.chance)
            total += tally_messages(small.layout, rows).counts[:2]
    for span in spans(protocol.fakes, _SPAN):
        rows = _fakes(protocol, span.stop - span.start, lab)
        total += tally_messages(small.layout, rows).counts[:2]
    return total

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
from mixtally.ground.chance import Chance
from mixtally.ground.fixed import SCALE
from mixtally.lab.attack.against import DRAWN, MOST_MESSAGES, outcomes
from mixtally.lab.attack.games import game_of, quick_runs, told
from mixtally.lab.attack.multinomial import binomials
from mixtally.lab.attack.outcome import Lab, Outcome, told_apart
from mixtally.lab.attack.target import Target, left_after
from mixtally.lab.attack.uniform_flips import fakes_in_view
from mixtally.lab.attack.worlds import Worlds
from mixtally.protocols.base import FakeSource, Protocol
from mixtally.protocols.clear_shaped import ClearShaped
from mixtally.protocols.flip_blank import FlipBlank
from mixtally.protocols.flip_uniform import FlipUniform
from mixtally.records.layout import Form
from mixtally.tally.fold import tally_messages

NAME = "difference"
_SPAN = 1 << 20
_DRAWN_RUNS = 100_000


def run(target: Target, lab: Lab) -> list[Outcome]:
    """A changed answer; for records of one value also an absent person."""
    one_valued = not isinstance(target.protocol, FlipBlank) or target.protocol.max_set == 1
    if not one_valued or target.protocol.name in ("flip", "single-bit"):
        return _changed(target, lab)
    lab = replace(lab, error=lab.error / 2.0)
    return [*_changed(target, lab), _absent(target, lab)]


def _changed(target: Target, lab: Lab) -> list[Outcome]:
    people = target.others if target.crowd else 0
    game = game_of(target.protocol, people, target.protocol.fakes, target.epsilon)
    promised, delta = 2.0 * target.epsilon, 2.0 * target.delta
    if target.certified:
        sure = target.protocol.surely(target.honest_fraction)
        promised = min(promised, left_after(sure, 2, delta))
    return outcomes(
        NAME, "asked twice, answer changed", game, lab, promised=promised, delta=delta,
        test="sum of both batches' log-likelihood ratios; as good as tell-apart's", twice=True,
    )  # fmt: skip


def _absent(target: Target, lab: Lab) -> Outcome:
    protocol, users = target.protocol, target.users
    runs = lab.runs if lab.runs is not None else quick_runs(_cost(protocol, users), 0.5)
    if _messages(protocol, users) > MOST_MESSAGES and lab.drawn != 0:
        runs, how = lab.drawn or _DRAWN_RUNS, DRAWN
        noise = np.array([_noise_by_law(protocol, users, runs, lab.chance) for _ in range(4)])
    else:
        how, noise = "", np.empty((4, runs, 2), dtype=np.int64)
        for i in told(runs, lab, NAME + " (absent)"):
            noise[:, i] = [_noise(protocol, users, lab) for _ in range(4)]
    sides = (noise[2 * own] - noise[2 * own + 1] + _own(protocol, own, runs, lab) for own in (0, 1))
    u, v = ((both[:, 0] - both[:, 1]).astype(np.float64) for both in sides)
    return told_apart(
        NAME, "asked twice, then absent", Worlds(u, v), lab,
        promised=target.epsilon, delta=target.delta,
        played=f"{users - 1:,} others spread over the bins, unknown to the attacker, and "
        f"{protocol.fakes:,} fakes, twice; two bins of the tallies{how}",
        test="difference of the tallies' differences in two bins; not optimal",
    )  # fmt: skip


def _messages(protocol: Protocol, users: int) -> int:
    """Messages that a run draws: of a mix's fakes two bins alone, in clear no people's."""
    if protocol.fake_source is FakeSource.MIX:
        return 0
    return 2 * (protocol.fakes + (users if protocol.flip_threshold is not None else 0))


def _cost(protocol: Protocol, users: int) -> float:
    """Nanoseconds of both collections in both worlds."""
    if protocol.flip_threshold is None:
        return 240.0 * protocol.fakes
    return 240.0 * users + 20.0 * protocol.fakes


def _own(protocol: Protocol, bin_index: int, runs: int, lab: Lab) -> Counts:
    """The person's message in the first two bins, shape (runs, 2)."""
    small = _small(protocol)
    rows = lab.device.reports(small, np.full(runs, bin_index), lab.chance)
    if small.layout.form is Form.BITS:
        return np.unpackbits(rows, axis=1, count=2, bitorder="little").astype(np.int64)
    codes = small.layout.codes(rows)
    return np.stack([codes == 0, codes == 1], axis=1).astype(np.int64)


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


def _noise_by_law(protocol: Protocol, users: int, runs: int, chance: Chance) -> Counts:
    """The same for many runs, drawn from its law, shape (runs, 2)."""
    ones = np.zeros((runs, 2), dtype=np.int64)  # that fakes set in clear
    if protocol.uniform_fakes:
        both = binomials(chance, np.full(runs, protocol.fakes), 2.0 / protocol.bins)
        one = binomials(chance, both, 0.5)
        ones = np.stack([one, both - one], axis=1)
    threshold = protocol.flip_threshold
    if threshold is None:
        return ones
    q, sent = threshold / SCALE, users - 1 + protocol.fakes
    held = (ones + (users - 1) // protocol.bins).T
    return np.stack(
        [binomials(chance, h, 1.0 - q) + binomials(chance, sent - h, q) for h in held], axis=1
    )

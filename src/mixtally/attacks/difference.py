"""difference: the same crowd reports twice and one person answers differently, or not again.

*changed*: the person answers a and then b, or b and then a; the log ratios of both batches add up.
Two collections are promised the composition of two certificates. *absent*: the person is gone the
second time, and the attacker, who does not know what others hold, takes the second batch from the
first, which removes the crowd but not its noise. The second batch says nothing of the person, so
the promise of one collection covers it.
"""

from dataclasses import replace

import numpy as np

from mixtally.attacks.against import DRAWN, MOST_MESSAGES, outcomes
from mixtally.attacks.game import quick_runs, with_progress
from mixtally.attacks.games import game_of
from mixtally.attacks.multinomial import Binomials
from mixtally.attacks.outcome import Hypothesis, Lab, Outcome, distinguished
from mixtally.attacks.senders import PlanSenders
from mixtally.attacks.target import Target, left_after
from mixtally.attacks.worlds import Worlds
from mixtally.ground.bits import Counts, Rows, spans
from mixtally.ground.fixed import SCALE
from mixtally.records.layout import Form, Layout
from mixtally.records.mechanism import BitFlips, FakeSource, Shuffled
from mixtally.tally.fold import tally_messages

NAME = "difference"
_SPAN = 1 << 20
_WIDTH = 3
"""Positions that are drawn: two bins of interest, and one for all others."""
_DRAWN_RUNS = 100_000


def run(target: Target, lab: Lab) -> list[Outcome]:
    """A changed answer; for records of one value also an absent person."""
    mechanism = target.mechanism
    if isinstance(mechanism, BitFlips) and mechanism.max_set != 1:
        return _changed(target, lab)
    lab = replace(lab, error=lab.error / 2.0)
    return [*_changed(target, lab), _absent(target, lab)]


def _changed(target: Target, lab: Lab) -> list[Outcome]:
    people = target.others if target.crowd else 0
    game = game_of(target.mechanism, people, target.mechanism.fakes_promised, target.epsilon)
    promised, delta = 2.0 * target.epsilon, 2.0 * target.delta
    if target.certified:
        honest = target.mechanism.surely(target.honest_share)
        promised = min(promised, left_after(honest, 2, delta, lab.accountant))
    return outcomes(
        Hypothesis(
            NAME,
            "asked twice, answer changed",
            promised,
            delta,
            "sum of both batches' log-likelihood ratios; as good as tell-apart's",
        ),
        game,
        lab,
        twice=True,
    )


def _absent(target: Target, lab: Lab) -> Outcome:
    mechanism, users = target.mechanism, target.users
    senders = PlanSenders(mechanism, users - 1, mechanism.fakes_promised)
    runs = lab.runs if lab.runs is not None else quick_runs(_cost(mechanism, users), 0.5)
    if _messages(mechanism, users) > MOST_MESSAGES and lab.drawn != 0:
        runs, how = lab.drawn or _DRAWN_RUNS, DRAWN
        draw = Binomials(lab.chance, lab.tables)
        noise = np.array([_noise_by_distribution(mechanism, users, runs, draw) for _ in range(4)])
    else:
        how, noise = "", np.empty((4, runs, 2), dtype=np.int64)
        for i in with_progress(runs, lab, NAME + " (absent)"):
            noise[:, i] = [_noise(senders, users, lab) for _ in range(4)]
    sides = (noise[2 * own] - noise[2 * own + 1] + _own(senders, own, runs, lab) for own in (0, 1))
    u, v = ((both[:, 0] - both[:, 1]).astype(np.float64) for both in sides)
    return distinguished(
        Hypothesis(
            NAME,
            "asked twice, then absent",
            target.epsilon,
            target.delta,
            "difference of the tallies' differences in two bins; not optimal",
        ),
        Worlds(u, v),
        lab,
        played=f"{users - 1:,} others spread over the bins, unknown to the attacker, and "
        f"{mechanism.fakes_promised:,} fakes, twice; two bins of the tallies{how}",
    )


def _messages(mechanism: Shuffled, users: int) -> int:
    """Messages that a run draws: of a mix's fakes two bins alone, in clear no people's."""
    if mechanism.fake_source is FakeSource.MIX:
        return 0
    return 2 * (mechanism.fakes_promised + (users if mechanism.flip_threshold is not None else 0))


def _cost(mechanism: Shuffled, users: int) -> float:
    """Nanoseconds of both collections in both worlds."""
    if mechanism.flip_threshold is None:
        return 240.0 * mechanism.fakes_promised
    return 240.0 * users + 20.0 * mechanism.fakes_promised


def _own(senders: PlanSenders, bin_index: int, runs: int, lab: Lab) -> Counts:
    """The person's message in the first two bins, shape (runs, 2)."""
    rows = senders.of_bins(np.full(runs, bin_index), _WIDTH, lab.chance, lab.device)
    return np.unpackbits(rows, axis=1, count=2, bitorder="little").astype(np.int64)


def _noise(senders: PlanSenders, users: int, lab: Lab) -> Counts:
    """Tallied counts of the first two bins without the person, as far as they are not certain.

    In clear what others hold is the same twice and cancels; it is left out.
    """
    mechanism, chance, device = senders.mechanism, lab.chance, lab.device
    if (shaped := mechanism.shaped) is not None:
        two = Layout(Form.INDEX, 2)
        every = [senders.shaped(two, chance, device) for _ in range(shaped.mixes)]
        return tally_messages(two, np.concatenate(every)).counts
    total = np.zeros(2, dtype=np.int64)
    if senders.threshold:
        each = (users - 1) // mechanism.bins
        codes = np.repeat(np.arange(3), [each, each, users - 1 - 2 * each])
        for span in spans(len(codes), _SPAN):
            total += _two_bins(senders.of_bins(codes[span], _WIDTH, chance, device))
    for rows in senders.drawn_fakes(min(_WIDTH, mechanism.bins), chance, device):
        total += _two_bins(rows)
    return total


def _two_bins(rows: Rows) -> Counts:
    """How many messages show the first bin, and the second."""
    kinds = np.bincount(rows[:, 0] & 3, minlength=4)
    return np.asarray(kinds[1:3] + kinds[3])


def _noise_by_distribution(mechanism: Shuffled, users: int, runs: int, draw: Binomials) -> Counts:
    """The same for many runs, drawn from its distribution, shape (runs, 2)."""
    ones = np.zeros((runs, 2), dtype=np.int64)  # that fakes set in clear
    if mechanism.uniform_fakes:
        both = draw(np.full(runs, mechanism.fakes_promised), 2.0 / mechanism.bins)
        one = draw(both, 0.5)
        ones = np.stack([one, both - one], axis=1)
    threshold = mechanism.flip_threshold
    if threshold is None:
        return ones
    q, sent = threshold / SCALE, users - 1 + mechanism.fakes_promised
    held = (ones + (users - 1) // mechanism.bins).T
    return np.stack([draw(h, 1.0 - q) + draw(sent - h, q) for h in held], axis=1)

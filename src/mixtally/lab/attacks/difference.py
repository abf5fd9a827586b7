"""The attack ``difference``: the same crowd reports twice, and one person's behavior differs.

*changed*: the person answers a and then b, or b and then a. The log-likelihood ratios of both
batches add up. The result is compared with the composition of two certificates, unless the plan's
certificate already covers two collections.

*absent*: the person does not take part the second time. The attacker does not know the answers of
others. So the attacker subtracts the counts of the second batch from those of the first, which
removes the answers of the crowd but not their noise. The second batch is independent of the
person's answer, so the guarantee of one collection applies.
"""

from dataclasses import replace

import numpy as np

from mixtally.lab.attacks.game import iterate_runs, quick_runs
from mixtally.lab.attacks.game_outcomes import DRAWN, MOST_MESSAGES, attack_outcomes
from mixtally.lab.attacks.games import game_among
from mixtally.lab.attacks.multinomial import Binomials
from mixtally.lab.attacks.outcome import AttackLab, Hypothesis, Outcome, conclude_game
from mixtally.lab.attacks.remaining_epsilon import remaining_epsilon
from mixtally.lab.attacks.senders import Senders
from mixtally.lab.attacks.target import Target
from mixtally.lab.attacks.worlds import Worlds
from mixtally.model.contract import Shape
from mixtally.model.layout import Form, Layout
from mixtally.primitives.bits import Counts, Rows, spans
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.tails import Floats
from mixtally.protocol.tally.fold import tally_messages

NAME = "difference"
_SPAN = 1 << 20
"""The messages that are drawn at once, which limits memory."""
_WIDTH = 3
"""The positions that are drawn: two bins of interest, and one for all others."""
_DRAWN_RUNS = 100_000
"""The number of runs with counts drawn from their distribution."""


def run(target: Target, lab: AttackLab) -> list[Outcome]:
    """Attack a changed answer and, for records of one value, an absent person."""
    if any(part.most_set != 1 for part in target.parts):
        return _attack_changed_answer(target, lab)
    lab = replace(lab, error=lab.error / 2.0)
    return [*_attack_changed_answer(target, lab), _attack_absence(target, lab)]


def _attack_changed_answer(target: Target, lab: AttackLab) -> list[Outcome]:
    game = game_among(target.senders_among(target.certain, collections=1), target.epsilon)
    promised, delta = target.epsilon, target.delta
    if target.collections == 1:
        promised, delta = 2.0 * target.epsilon, 2.0 * target.delta
        if target.verified:
            twice = target.senders_among(target.certain, collections=2)
            promised = min(promised, remaining_epsilon(twice, delta, lab.accountant))
    return attack_outcomes(
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


def _attack_absence(target: Target, lab: AttackLab) -> Outcome:
    behind = target.senders_among(target.expected, target.hops, collections=1)
    cost = sum(times * _cost(who) for who, times in behind.items())
    runs, how = lab.runs if lab.runs is not None else quick_runs(cost, 0.5), ""
    by_distribution = (
        lab.drawn != 0
        and sum(times * _message_count(who) for who, times in behind.items()) > MOST_MESSAGES
    )
    if by_distribution:
        runs, how = lab.drawn or _DRAWN_RUNS, DRAWN
    total = np.zeros((2, runs))
    for who, times in behind.items():
        for _ in range(times):
            total += _differences(who, target.users, runs, lab, by_distribution=by_distribution)
    fakes = sum(times * who.fakes for who, times in behind.items())
    return conclude_game(
        Hypothesis(
            NAME,
            "asked twice, then absent",
            target.epsilon,
            target.delta,
            "difference of the tallies' differences in two bins; not optimal",
        ),
        Worlds(total[0], total[1]),
        lab,
        played=f"{target.users - 1:,} others spread over the bins, unknown to the attacker, and "
        f"{fakes:,} fakes, twice; two bins of the tallies{how}",
    )


def _differences(
    senders: Senders, users: int, runs: int, lab: AttackLab, *, by_distribution: bool
) -> Floats:
    """Return the statistic of one part in both worlds, shape (2, runs)."""
    if by_distribution:
        draw = Binomials(lab.chance, lab.tables)
        noise = np.array(
            [_draw_noise_from_distribution(senders, users, runs, draw) for _ in range(4)]
        )
    else:
        noise = np.empty((4, runs, 2), dtype=np.int64)
        for i in iterate_runs(runs, lab, NAME + " (absent)"):
            noise[:, i] = [_draw_noise(senders, users, lab) for _ in range(4)]
    sides = [
        noise[2 * own] - noise[2 * own + 1] + _draw_own(senders, own, runs, lab) for own in (0, 1)
    ]
    return np.array([both[:, 0] - both[:, 1] for both in sides], dtype=np.float64)


def _message_count(senders: Senders) -> int:
    """Return the number of messages that are drawn for a run.

    Only two bins of shaped fakes are drawn. Other people's records in clear are not drawn, because
    they cancel.
    """
    return 2 * (senders.fakes + (senders.people + 1) * senders.part.is_randomized)


def _cost(senders: Senders) -> float:
    """Estimate the nanoseconds of one run: two collections in each of the two worlds."""
    if senders.part.is_randomized:
        return 240.0 * (senders.people + 1) + 20.0 * senders.fakes
    return 240.0 * senders.fakes


def _draw_own(senders: Senders, bin_index: int, runs: int, lab: AttackLab) -> Counts:
    """Return how often the person's message names each of the first two bins, shape (runs, 2).

    ``bin_index`` is the bin of the person's record.
    """
    rows = senders.draw_reports_of_bins(np.full(runs, bin_index), _WIDTH, lab.chance, lab.device)
    return np.unpackbits(rows, axis=1, count=2, bitorder="little").astype(np.int64)


def _draw_noise(senders: Senders, users: int, lab: AttackLab) -> Counts:
    """Return the counts of the first two bins over fakes and over others' randomized messages.

    In clear, the messages of others are equal in both collections, so they cancel and are left out.
    """
    chance, device = lab.chance, lab.device
    if isinstance(senders.part.recipe, Shape):
        two = Layout(Form.INDEX, 2)
        every = [device.added(senders.part.recipe, two, chance) for _ in range(senders.mixes)]
        return tally_messages(two, np.concatenate(every)).counts
    total = np.zeros(2, dtype=np.int64)
    if senders.part.is_randomized:
        each = (users - 1) // senders.part.bins
        codes = np.repeat(np.arange(3), [each, each, users - 1 - 2 * each])
        codes = codes if senders.threshold else np.minimum(codes, senders.part.bins - 1)
        for span in spans(len(codes), _SPAN):
            total += _count_two_bins(
                senders.draw_reports_of_bins(codes[span], _WIDTH, chance, device)
            )
    for rows in senders.draw_fakes(min(_WIDTH, senders.part.bins), chance, device):
        total += _count_two_bins(rows)
    return total


def _count_two_bins(rows: Rows) -> Counts:
    """Return the number of messages that show the first bin, and the number for the second bin."""
    kinds = np.bincount(rows[:, 0] & 3, minlength=4)
    return np.asarray(kinds[1:3] + kinds[3])


def _draw_noise_from_distribution(
    senders: Senders, users: int, runs: int, draw: Binomials
) -> Counts:
    """Return the counts of ``_draw_noise`` in many runs, shape (runs, 2).

    The counts are drawn from the distribution, not by the code.
    """
    fakes = np.broadcast_to(np.asarray(senders.draw_fake_numbers(runs, draw)), runs)
    ones = np.zeros((runs, 2), dtype=np.int64)  # The bits of fakes before any flip.
    if senders.has_uniform_fakes:
        meet = 0.0 if senders.part.planes is None else senders.part.planes.collision_probability
        either = draw(fakes, (2.0 - meet) / senders.part.cells)
        both = draw(either, meet / (2.0 - meet))
        one = draw(either - both, 0.5)
        ones = np.stack([one + both, either - one], axis=1)
    if senders.part.replaced is not None:
        return ones + _draw_replaced_from_distribution(senders, users - 1, runs, draw)
    if not senders.threshold:
        return ones
    q, sent = senders.threshold / SCALE, users - 1 + fakes
    holders = (ones + (users - 1) // senders.part.bins).T
    return np.stack([draw(h, 1.0 - q) + draw(sent - h, q) for h in holders], axis=1)


def _draw_replaced_from_distribution(
    senders: Senders, others: int, runs: int, draw: Binomials
) -> Counts:
    """Return how many of the others name each of the first two bins, shape (runs, 2).

    The true bins of the others are spread evenly over all bins.
    """
    kept, bins = 1.0 - (senders.part.replaced or 0) / SCALE, senders.part.bins
    each = others // bins
    holders = np.array([each, each, others - 2 * each] if bins > 2 else [each, others - each])
    stay = np.stack([draw(np.full(runs, many), kept) for many in holders], axis=1)
    both = draw(others - stay.sum(axis=1), 2.0 / bins)
    one = draw(both, 0.5)
    return stay[:, :2] + np.stack([one, both - one], axis=1)

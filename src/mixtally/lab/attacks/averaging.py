"""The attack ``averaging``: combine many reports of one person whose sender is known.

If every report has fresh noise, each adds evidence, and the attacker finds the true answer. If the
first report is repeated, its copies reveal nothing more. A memoized answer is between these cases:
averaging finds the *memoized* bits, but never more (Side Notes on Differential Privacy, section 4).
"""

from collections.abc import Callable
from dataclasses import replace

import msgspec
import numpy as np

from mixtally.lab.attacks.game import play
from mixtally.lab.attacks.games import game_among
from mixtally.lab.attacks.memoized import (
    MemoizedTarget,
    Recall,
    count_ones,
    log_likelihood_true,
    simple_recall,
    true_rows,
)
from mixtally.lab.attacks.outcome import AttackLab, Hypothesis, Outcome, conclude_game
from mixtally.lab.attacks.remaining_epsilon import none_if_infinite
from mixtally.lab.attacks.repeated_numbers import POINTS, repeated_numbers
from mixtally.lab.attacks.target import NOBODY, Target
from mixtally.lab.attacks.worlds import Worlds
from mixtally.model.mechanism.memoized import LEAST_PERMANENT, Memoized
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.tails import Floats
from mixtally.protocol.estimate.memoized import recovery
from mixtally.report.curves import Chart, Curve

NAME = "averaging"
REPORTS = 5
"""The number of reports of one person that the outcomes are about."""
_RUNS, _MOST_CURVE_RUNS = 20_000, 4_000
"""The runs of a game by default, and the most runs from which the curves are drawn."""


def run(target: Target, lab: AttackLab) -> list[Outcome]:
    """Attack the reports of a plan without mixes, with fresh noise in every report."""
    runs = lab.runs if lab.runs is not None else _RUNS
    game = game_among(target.senders_among(NOBODY, mixes=0, collections=1))
    total = np.zeros((2, runs))
    curve, first, tested = [], np.zeros((2, runs)), total
    for count in range(1, 21):
        one = play(game, replace(lab, runs=runs), NAME)
        total = total + np.array([one.u, one.v])
        if count == 1:
            first = total
        if count == REPORTS:
            tested = total
        curve.append((float(count), _error_rate(total)))
        lab.progress(NAME, count, 20)
    flat = tuple((float(c), _error_rate(first)) for c in range(1, 21))
    local = none_if_infinite(target.local_epsilon)
    chart = _chart(
        "which of two answers, by the number of linked reports",
        (Curve("fresh noise every time", tuple(curve), dots=True), Curve("drawn once", flat)),
    )
    promised = None if local is None else REPORTS * local
    test = "sum of the reports' log-likelihood ratios; optimal"
    found = conclude_game(
        Hypothesis(NAME, f"{REPORTS} fresh linked reports", promised, 0.0, test),
        Worlds(tested[0], tested[1]),
        lab,
        played="the person's messages alone, no mix",
        charts=(chart,),
    )
    return [found]


def _error_rate(total: Floats) -> float:
    """Return the share of runs in which the likelier answer is wrong; ties count half.

    ``total`` is the log-likelihood ratio of world u against world v, shape (2, runs). The runs of
    row 0 are in world u, and those of row 1 in world v.
    """
    wrong = (total[0] < 0).mean() + (total[1] > 0).mean()
    ties = (total[0] == 0).mean() + (total[1] == 0).mean()
    return float(0.5 * (wrong + 0.5 * ties))


def run_memoized(
    target: MemoizedTarget, lab: AttackLab, recall: Recall | None = None
) -> list[Outcome]:
    """Attack the reports of memoized answers by averaging.

    The first outcome measures the privacy loss after all reports of the target, and has a chart of
    the error probability of a guessed bit. The other outcomes are those of ``repeated_numbers``.
    """
    mechanism, count = target.mechanism, target.reports
    recall = recall or simple_recall(mechanism)
    runs = lab.runs if lab.runs is not None else _RUNS
    two = msgspec.structs.replace(mechanism, bins=2 * mechanism.hashes)
    worlds = Worlds(*(_evidence(two, count, runs, lab, recall, side) for side in (0, 1)))
    promised = target.loss(count).eps_T
    curves = _error_curves(mechanism, lab, recall)
    found = conclude_game(
        Hypothesis(NAME, f"{count} linked reports", promised, 0.0, "likelihood ratio; optimal"),
        worlds,
        lab,
        played="the bits in which two values differ",
        charts=(_chart("error of one bit, by the number of linked reports", curves),),
        errors={curve.name: dict(curve.points) for curve in curves},
        floor=mechanism.f / 2.0,
        eps_inf=target.loss(1).eps_inf,
    )
    return [found, *repeated_numbers(NAME, target, lab, recall)]


def _evidence(
    two: Memoized, reports: int, runs: int, lab: AttackLab, recall: Recall, side: int
) -> Floats:
    """Return the log-likelihood ratio of value 0 against value 1, shape (runs,).

    ``two`` is the mechanism with the bits of these two values only. In all runs the true value is
    ``side``.
    """
    reported = recall(true_rows(two, runs, side * two.hashes), two.bins, reports, lab.chance)
    ones = count_ones(reported, two.bins)
    ratio = _bit_evidence(two, reports)
    evidence = ratio[ones]
    evidence[:, two.hashes :] *= -1.0
    return np.asarray(evidence.sum(axis=1))


def _bit_evidence(mechanism: Memoized, reports: int) -> Floats:
    """Return the log-likelihood ratio of a true 1 against a true 0, shape (reports + 1,).

    Entry s is the ratio for a bit that is set in s of the reports.
    """
    with np.errstate(invalid="ignore"):  # Impossible numbers of ones are never read.
        return log_likelihood_true(mechanism, 1, reports) - log_likelihood_true(
            mechanism, 0, reports
        )


def _error_curves(mechanism: Memoized, lab: AttackLab, recall: Recall) -> tuple[Curve, ...]:
    """Return four curves of the error probability of a guessed bit, by the number of reports.

    The attacker guesses, in this order, the true bit from reports with fresh noise, the true bit
    from the memoized bit itself, the true bit from reports of the memoized bit, and the memoized
    bit from these reports. The last probability is computed, and the others are measured.
    """
    one = msgspec.structs.replace(mechanism, hashes=1, bins=2)
    runs = min(lab.runs or _MOST_CURVE_RUNS, _MOST_CURVE_RUNS)
    most = POINTS[-1]
    true = true_rows(one, runs)  # The first bit is 1, the second 0: one column for each.
    reported = recall(true, 2, most, lab.chance)
    fresh = [recall(true, 2, 1, lab.chance)[0] for _ in range(most)]
    ratio = _bit_evidence(one, 1)
    bits = _memoized_bits(one, runs, lab)

    def average_evidence(count: int) -> Floats:
        ones = count_ones(fresh[:count], 2).astype(float)
        return np.asarray(ones * ratio[1] + (count - ones) * ratio[0])

    errors: dict[str, Callable[[int], float]] = {
        "fresh noise every time": lambda count: _bit_error(average_evidence(count)),
        "the memoized bit, shown": lambda _: _bit_error(2.0 * bits - 1.0),
        "memory, true bit": lambda count: _bit_error(
            _bit_evidence(one, count)[count_ones(reported[:count], 2)]
        ),
        "memory, what it holds": lambda count: recovery(one, count).memoized,
    }
    return tuple(
        Curve(name, tuple((float(count), error(count)) for count in POINTS), dots=True)
        for name, error in errors.items()
    )


def _memoized_bits(one: Memoized, runs: int, lab: AttackLab) -> Floats:
    """Return the memoized bits of a true 1 and of a true 0, shape (runs, 2).

    The bits are read from reports with almost no noise (p near 0, q near 1).
    """
    bare = msgspec.structs.replace(one, p=LEAST_PERMANENT, q=SCALE - LEAST_PERMANENT)
    return count_ones(simple_recall(bare)(true_rows(one, runs), 2, 1, lab.chance), 2).astype(float)


def _bit_error(evidence: Floats) -> float:
    """Return the share of bits that an attacker with this evidence guesses wrongly.

    ``evidence`` has shape (runs, 2), and is positive if a 1 is likelier than a 0. The true bit is 1
    in column 0, and 0 in column 1.
    """
    return _error_rate(np.array([evidence[:, 0], evidence[:, 1]]))


def _chart(caption: str, curves: tuple[Curve, ...]) -> Chart:
    return Chart(
        "attack",
        f"{NAME}: {caption}",
        "An attacker who knows the sender guesses the likelier value; half of blind guesses fail.",
        "reports seen",
        "share of wrong guesses",
        curves,
        log_x=True,
    )

"""The attack ``tracking``: whether a series of reports comes from one person or from two.

The attacker sees T reports without their senders. In world u, all of them come from the memoized
answer of one person. In world v, they come from two people with the same true value, each with a
memoized answer drawn separately. Each of the two sends at least one report, and the attacker does
not know which. The statistic is the likelihood of the reports under one person, divided by their
mean likelihood over all assignments to two people. This statistic is optimal.

Source: Side Notes on Differential Privacy, section 4, on trackability.
"""

import numpy as np

from mixtally.errors import ParameterError
from mixtally.lab.attacks.memoized import (
    MemoizedTarget,
    Recall,
    log_likelihood_true,
    simple_recall,
    true_rows,
    unpack_bits,
)
from mixtally.lab.attacks.outcome import AttackLab, Hypothesis, Outcome, conclude_game
from mixtally.lab.attacks.worlds import Worlds, power_at
from mixtally.model.mechanism import Memoized
from mixtally.primitives.bits import Rows, spans
from mixtally.primitives.draw import draw_below
from mixtally.primitives.tails import Floats
from mixtally.report.curves import Chart, Curve

NAME = "tracking"
MOST_REPORTS = 8
"""The most reports of a series; every further report doubles the number of assignments."""
RATE = 0.01
"""The false-alarm rate at which the power is reported."""
_RUNS, _SPAN_BITS = 4_000, 1 << 21
"""The most runs by default, and the number of bits that are drawn at once."""


def run_memoized(
    target: MemoizedTarget, lab: AttackLab, recall: Recall | None = None
) -> list[Outcome]:
    """Attack series of 2, 3, .. reports, up to the target's number and at most eight."""
    most = min(MOST_REPORTS, max(2, target.reports))
    mechanism = target.mechanism
    runs = lab.runs if lab.runs is not None else max(400, min(_RUNS, 2_000_000 // mechanism.bins))
    powers, worlds = [], Worlds(np.zeros(0), np.zeros(0))
    for reports in range(2, most + 1):
        worlds = track(mechanism, reports, runs, lab, recall or simple_recall(mechanism))
        powers.append((float(reports), power_at(worlds, RATE)))
        lab.progress(NAME, reports, most)
    chart = Chart(
        "attack",
        f"{NAME}: power by the number of reports",
        f"How often one person is recognized as one, at a rate of {RATE:g} of false alarms.",
        "reports seen",
        "power",
        (Curve("the attack", tuple(powers), dots=True),),
    )
    test = "likelihood of one against the mean over all shares of two; optimal"
    found = conclude_game(
        Hypothesis(NAME, f"{most} reports, one person or two", None, 0.0, test),
        worlds,
        lab,
        played="one memoized answer against two of the same value, reports shared at random",
        charts=(chart,) if len(powers) > 1 else (),
        power=powers[-1][1],
        at_false_alarms=RATE,
        powers=dict(powers),
    )
    return [found]


def track(mechanism: Memoized, reports: int, runs: int, lab: AttackLab, recall: Recall) -> Worlds:
    """Return the statistics of one person's reports (u) and of two people's reports (v)."""
    if not 2 <= reports <= MOST_REPORTS:
        raise ParameterError(
            "reports", expected=f"2 to {MOST_REPORTS}", got=reports, do="track a shorter series"
        )
    found: tuple[list[Floats], list[Floats]] = ([], [])
    for span in spans(runs, max(1, _SPAN_BITS // mechanism.bins)):
        people = span.stop - span.start
        true = true_rows(mechanism, people)
        single, one, two = (recall(true, mechanism.bins, reports, lab.chance) for _ in range(3))
        shares = 1 + draw_below(lab.chance, (1 << (reports - 1)) - 1, people)
        mixed = [np.where((shares >> i & 1 == 1)[:, None], two[i], one[i]) for i in range(reports)]
        for side, series in enumerate((single, mixed)):
            bits = np.stack([unpack_bits(rows, mechanism.bins) for rows in series])
            found[side].append(_evidence(mechanism, bits))
    return Worlds(np.concatenate(found[0]), np.concatenate(found[1]))


def _evidence(mechanism: Memoized, bits: Rows) -> Floats:
    """Return the statistic of every series; ``bits`` has shape (reports, people, columns).

    An assignment is an integer whose bit i states which of two people sent report i. The last
    report is always assigned to the same person, so that no division of the reports counts twice.
    """
    reports = len(bits)
    one_sender = _log_likelihood(mechanism, bits)
    shares = []
    for share in range(1, 1 << (reports - 1)):
        second = np.array([share >> i & 1 == 1 for i in range(reports)])
        shares.append(
            _log_likelihood(mechanism, bits[second]) + _log_likelihood(mechanism, bits[~second])
        )
    return np.asarray(one_sender - (np.logaddexp.reduce(shares, axis=0) - np.log(len(shares))))


def _log_likelihood(mechanism: Memoized, bits: Rows) -> Floats:
    """Return the log-likelihood that all reports of a series come from one memoized answer.

    ``bits`` has shape (reports, people, columns), and the result has shape (people,). The true
    value sets the first ``mechanism.hashes`` bits.
    """
    ones = bits.sum(axis=0, dtype=np.uint8)
    total = np.zeros(bits.shape[1])
    for bit, columns in ((1, slice(0, mechanism.hashes)), (0, slice(mechanism.hashes, None))):
        total += log_likelihood_true(mechanism, bit, len(bits))[ones[:, columns]].sum(axis=1)
    return total

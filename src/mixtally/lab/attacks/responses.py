"""The audit ``collection`` for memoized answers: each person's noise is drawn once and constant.

The audit runs the code of devices, which derives the memoized response of a person anew for every
report. It counts

- memoized bits that differ from the true ones, by position;
- pairs of people with the same value who memoize the same wrong bit;
- memoized bits that change at the next report;
- bits that are set in reports, separately for memoized ones and memoized zeros.

All tests are exact binomial tests that share the false-alarm probability.
"""

import numpy as np
from msgspec.structs import replace

from mixtally.lab.attacks.audit import Checks, audit, word_checks
from mixtally.lab.attacks.memoized import MemoizedTarget
from mixtally.lab.attacks.outcome import AttackLab, Outcome
from mixtally.lab.memoization import MemoizedDevice
from mixtally.model.mechanism import Memoized
from mixtally.model.memoized_plan import MemoizedPlan, hashed_question
from mixtally.model.question import Question
from mixtally.primitives.bits import Rows
from mixtally.primitives.counting import column_counts
from mixtally.primitives.fixed_point import SCALE
from mixtally.protocol.encode.bloom import encode_bloom
from mixtally.protocol.randomize.memoized import draw_reports, new_key

NAME = "collection"
_PEOPLE, _BIT_BUDGET = 4_000, 8_000_000
"""The largest number of people, and of bits in all of their responses."""
_REPORTS = 2
"""The number of reports of each person."""


def run_memoized(target: MemoizedTarget, lab: AttackLab) -> list[Outcome]:
    """Audit the permanent noise and the noise of each report, as devices draw them."""
    plan = _build_plan(target)
    mechanism = plan.mechanism
    people = max(200, min(_PEOPLE, _BIT_BUDGET // mechanism.bins)) // 2 * 2
    persons = [str(person) for person in range(people)]
    # Two successive people have the same value, for the test of their independence.
    values = [str(person // 2 % mechanism.bins) for person in range(people)]
    if mechanism.hashed:
        records = encode_bloom(plan, [0] * people, values)
    else:
        records = mechanism.layout.rows(np.array([int(value) for value in values]))
    key = new_key(lab.chance)
    responses, reports = [], []
    for turn in range(_REPORTS):
        responses.append(MemoizedDevice(plan, key).responses(persons, values))
        reports.append(draw_reports(mechanism, responses[-1], lab.chance))
        lab.progress(NAME, turn + 1, _REPORTS)
    checks = [
        *_permanent_checks(mechanism, records, responses),
        *_report_checks(mechanism, responses, reports),
    ]
    checks += word_checks(lab.chance)
    return [
        audit(
            NAME,
            checks,
            lab,
            _REPORTS * people,
            f"{people:,} people report {_REPORTS} times, by responses derived from a key",
        )
    ]


def _build_plan(target: MemoizedTarget) -> MemoizedPlan:
    """Return a plan for the target, which hashes values only if a value sets several bits."""
    one = target.mechanism
    question = Question(name="attacked", bins=one.bins)
    if one.hashes > 1:
        question = hashed_question("attacked", one.bins, one.hashes)
    mechanism = replace(one, hashed=one.hashes > 1, cohorts=1)
    return MemoizedPlan(question=question, mechanism=mechanism)


def _permanent_checks(mechanism: Memoized, records: Rows, responses: list[Rows]) -> list[Checks]:
    """Return tests of the permanent responses: distribution, independence and constancy."""
    bits, people, wrong = mechanism.bins, len(records), mechanism.permanent // 2 / SCALE
    flips = responses[0] ^ records
    both = int(np.bitwise_count(flips[0::2] & flips[1::2]).sum(dtype=np.int64))
    changed = int(np.bitwise_count(responses[0] ^ responses[1]).sum(dtype=np.int64))
    counts = column_counts(flips, bits)
    return [
        Checks.of("memoized bit that is wrong", counts, people, wrong),
        Checks.of("any memoized bit that is wrong", counts.sum(), people * bits, wrong),
        Checks.of("same bit wrong of two people", both, people // 2 * bits, wrong * wrong),
        Checks.of("memoized bit that is another at the next report", changed, people * bits, 0.0),
    ]


def _report_checks(mechanism: Memoized, responses: list[Rows], reports: list[Rows]) -> list[Checks]:
    """Return tests of the noise of reports: of one report, and of two reports together."""
    checks, people = [], len(responses[0])
    ones = column_counts(responses[0], mechanism.bins)
    for name, kept, trials, rate in (
        ("kept 1", responses[0], ones, mechanism.q / SCALE),
        ("kept 0", ~responses[0], people - ones, mechanism.p / SCALE),
    ):
        counts = column_counts(reports[0] & kept, mechanism.bins)
        twice = int(np.bitwise_count(reports[0] & reports[1] & kept).sum(dtype=np.int64))
        checks += [
            Checks.of(f"{name} shown", counts, trials, rate),
            Checks.of(f"any {name} shown", counts.sum(), trials.sum(), rate),
            Checks.of(f"any {name} shown twice", twice, trials.sum(), rate * rate),
        ]
    return checks

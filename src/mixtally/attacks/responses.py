"""collection, of a memory: whether what is kept is drawn once, for each person, and stays.

People report through the file that holds their memories, read again for every report. Counted are
the kept bits that differ from the truth, by position, and how often two people of one value keep
the same wrong bit; kept bits that are others at the next report; and what reports show of what is
kept. All are exact binomial tests that share the false-alarm rate.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from mixtally.attacks.audit import audit
from mixtally.attacks.checks import Checks
from mixtally.attacks.outcome import Lab, Outcome
from mixtally.attacks.target import Remembered
from mixtally.attacks.wordstream import word_checks
from mixtally.client.memory_file import MemoryFile
from mixtally.encode.bloom import bloom
from mixtally.ground.bits import Rows, column_counts
from mixtally.ground.fixed import SCALE
from mixtally.protocols.two_level import TwoLevel, hashed_question, two_level
from mixtally.randomize.kept import new_key
from mixtally.randomize.memory import report
from mixtally.records.question import Question

NAME = "collection"
_PEOPLE, _BIT_BUDGET = 4_000, 8_000_000
_REPORTS = 2


def run_memory(memory: Remembered, lab: Lab) -> list[Outcome]:
    """Both levels of a memory, through its file."""
    plan = _plan(memory)
    people = max(200, min(_PEOPLE, _BIT_BUDGET // plan.bits)) // 2 * 2
    persons = [str(person) for person in range(people)]
    values = [str(person // 2 % plan.bits) for person in range(people)]  # two alike in a row
    if plan.hashed:
        records = bloom(plan, [0] * people, values)
    else:
        records = plan.layout.rows(np.array([int(value) for value in values]))
    with TemporaryDirectory() as place:
        path, key = Path(place) / "memory", new_key(lab.chance)
        kept, shown = [], []
        for turn in range(_REPORTS):
            file = MemoryFile(path, plan, "everybody", key)
            kept.append(file.kept(persons, values, lab.chance))
            shown.append(report(plan, kept[-1], lab.chance))
            lab.progress(NAME, turn + 1, _REPORTS)
    checks = [*_kept(plan, records, kept), *_shown(plan, kept, shown), *word_checks(lab.chance)]
    return [
        audit(
            NAME, checks, lab, _REPORTS * people,
            f"{people:,} people report {_REPORTS} times through the file of their memories",
        )
    ]  # fmt: skip


def _plan(memory: Remembered) -> TwoLevel:
    question = Question(name="attacked", bins=memory.bits)
    if memory.hashes > 1:
        question = hashed_question("attacked", memory.bits, memory.hashes)
    return two_level(question, memory.permanent, memory.p, memory.q)


def _kept(plan: TwoLevel, records: Rows, kept: list[Rows]) -> list[Checks]:
    """The permanent responses: their law, one for each person, and the same at every report."""
    bits, people, wrong = plan.bits, len(records), plan.permanent // 2 / SCALE
    flips = kept[0] ^ records
    both = int(np.bitwise_count(flips[0::2] & flips[1::2]).sum(dtype=np.int64))
    changed = int(np.bitwise_count(kept[0] ^ kept[1]).sum(dtype=np.int64))
    counts = column_counts(flips, bits)
    return [
        Checks.of("kept bit that is wrong", counts, people, wrong),
        Checks.of("any kept bit that is wrong", counts.sum(), people * bits, wrong),
        Checks.of("same bit wrong of two people", both, people // 2 * bits, wrong * wrong),
        Checks.of("kept bit that is another at the next report", changed, people * bits, 0.0),
    ]


def _shown(plan: TwoLevel, kept: list[Rows], shown: list[Rows]) -> list[Checks]:
    """The reports of what was kept when they were drawn, and two of them together."""
    checks, people = [], len(kept[0])
    ones = column_counts(kept[0], plan.bits)
    for name, held, trials, rate in (
        ("kept 1", kept[0], ones, plan.q / SCALE),
        ("kept 0", ~kept[0], people - ones, plan.p / SCALE),
    ):
        counts = column_counts(shown[0] & held, plan.bits)
        twice = int(np.bitwise_count(shown[0] & shown[1] & held).sum(dtype=np.int64))
        checks += [
            Checks.of(f"{name} shown", counts, trials, rate),
            Checks.of(f"any {name} shown", counts.sum(), trials.sum(), rate),
            Checks.of(f"any {name} shown twice", twice, trials.sum(), rate * rate),
        ]
    return checks

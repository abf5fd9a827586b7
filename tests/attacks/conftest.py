"""Small collections that are sound, and broken devices to attack them with."""

import numpy as np
import pytest
from msgspec.structs import replace

from attacks.mechanisms import RARE, SOUND
from mixtally.accounting.accountant import Accountant, Record
from mixtally.lab.attacks import AttackLab
from mixtally.lab.attacks.multinomial import MOST_BYTES
from mixtally.lab.simulation.play import play_parts
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.contract import FakeRecord
from mixtally.model.guarantee import Guarantee
from mixtally.model.question import Question
from mixtally.planning import PlanRequest, choose
from mixtally.primitives.memo import Memo
from mixtally.protocol.randomize import draw_part_fakes, randomize_records

ERROR = 1e-4


def upper(mechanism, epsilon):
    """The proved delta of one record."""
    return Accountant().upper(Record.of(mechanism), epsilon)


@pytest.fixture(scope="session")
def accountant():
    """What all labs have proved: many runs ask alike."""
    return Accountant()


@pytest.fixture(scope="session")
def tables():
    """What all labs have drawn counts from."""
    return Memo(MOST_BYTES)


@pytest.fixture
def lab(accountant, tables):
    """A lab with a seed, a number of runs and, perhaps, a broken device."""

    def make(runs=None, seed=1, error=ERROR, **parts):
        given = {"play": play_parts, "accountant": accountant, "tables": tables, **parts}
        return AttackLab(SeededChance(seed), error, runs=runs, **given)

    return make


@pytest.fixture
def sound():
    """One collection of every protocol and kind of question that keeps (1, 0.03) or better."""
    return {**SOUND, "flip-blank, rare": RARE}


@pytest.fixture
def plan():
    """A plan for a thousand people in five bins."""
    question, guarantee = Question(name="color", bins=5), Guarantee(epsilon=1.0, delta=1e-6)
    return choose(PlanRequest(question=question, guarantee=guarantee, users=1000)).plan


def last_bit_in_clear(part, records, chance):
    """Accident: the last bit of a report is never randomized."""
    rows = randomize_records(part, records, chance)
    last = part.bins - 1
    mask = np.uint8(1 << (last & 7))
    held = records if records.ndim == 2 else part.layout.rows(records)
    true = np.repeat(held, part.repeats, axis=0)[:, last >> 3]
    rows[:, last >> 3] = (rows[:, last >> 3] & ~mask) | (true & mask)
    return rows


def flipping_with(threshold):
    """Accident: epsilon is mapped to another flip probability."""

    def device(part, records, chance):
        return randomize_records(replace(part, threshold=threshold), records, chance)

    return device


def off_by_one(part, records, chance):
    """Accident: the mapper counts from one, and the last two items become one."""
    return randomize_records(part, np.minimum(records + 1, part.bins - 1), chance)


def blanks_instead(part, people, chance):
    """Fakes that set no bit before they are flipped."""
    return draw_part_fakes(holding(part, FakeRecord.BLANK), people, chance)


def holding(part, record):
    """The part with other fakes of its devices."""
    return replace(part, own=replace(part.own, record=record))


def modulo(part, people, chance):
    """The classic bias: one byte modulo the number of bins."""
    number = draw_part_fakes(part, people, chance)[1]
    codes = (chance.words(number) & np.uint64(0xFF)) % np.uint64(part.bins)
    return part.layout.rows(codes.astype(np.int64)), number

"""Every record sent k times, each time randomized afresh: what it gains at the same guarantee.

K-randomization promises sqrt(k) times the precision. But k reports tell more than one, so at the
same epsilon and delta each of them must be flipped more, and that eats up most of the gain for a
single bit and part of it for a vector that travels whole. Sending every bit of the vector as a
message of its own costs as many messages and errs far less. Look at what the error would be
"by sqrt(k)" beside what it is.

A made-up crowd: 20,000 people with a yes or no, 5,000 with five of them.
"""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mixtally.encode.bits import packed
from mixtally.ground.chance import Chance
from mixtally.mix import shuffle
from mixtally.privacy import laws
from mixtally.privacy.laws import Ask
from mixtally.randomize import reports
from mixtally.records.mechanism import BitFlips
from mixtally.records.mechanism.named import flip_bits, single_bit
from mixtally.simulate.seeded import SeededChance
from mixtally.tally.fold import tally_messages

DELTA = 1e-6
CLOSE = 5e-3
"""A flip probability is searched up to so much above the least: seconds instead of a minute."""
TIMES = (1, 2, 5)
RUNS = 100
"""Collections that are played: 19 times in 20 the error seen is within 14 % of the one predicted,
over five bits within 7 %."""

Bits = NDArray[np.uint8]


def asked(users: int, bits: int) -> Bits:
    """Everybody's bits, shape (users, bits): the first of them rare, the last held by half."""
    people = np.arange(users)
    columns = [people % (2 * bits) <= bit for bit in range(bits)]
    return np.stack(columns, axis=1).astype(np.uint8)


def counted(mechanism: BitFlips, answers: Bits, times: int, chance: Chance) -> NDArray[np.float64]:
    """Counts of one collection in which everybody sends their record ``times`` times."""
    records = packed(answers.tobytes(), mechanism.bins)
    sent = [reports(mechanism, records, chance) for _ in range(times)]
    tally = tally_messages(mechanism.layout, shuffle(np.concatenate(sent), chance))
    return mechanism.unbiased(tally.counts, tally.messages) / times


def seen(mechanism: BitFlips, answers: Bits, times: int, chance: Chance) -> float:
    """Root mean square error of many collections, over all bits."""
    truth = answers.sum(axis=0)
    errors = [counted(mechanism, answers, times, chance) - truth for _ in range(RUNS)]
    return float(np.sqrt(np.mean(np.square(errors))))


def play(law: str, ask: Ask, epsilon: float, answers: Bits, chance: Chance) -> None:
    """A line for every number of reports: the flips that are needed, and the error they leave."""
    users, bits = answers.shape
    once = math.nan
    for times in TIMES:
        found = laws.calibrate(law, replace(ask, repeats=times), epsilon, DELTA, tolerance=CLOSE)
        q, predicted = found.threshold, laws.standard_error(law, found)
        mechanism = (
            single_bit(fakes=0, threshold=q, crowd=users) if bits == 1
            else flip_bits(bins=bits, threshold=q, crowd=users)
        )  # fmt: skip
        once = predicted if times == 1 else once
        print(
            f"  sent {times} times: flip {q / 2**64:.3g}, error {predicted:6.2f}, seen "
            f"{seen(mechanism, answers, times, chance):6.2f}; by sqrt(k) "
            f"{once / math.sqrt(times):.2f}"
        )


def split(ask: Ask, epsilon: float, answers: Bits, chance: Chance) -> None:
    """The vector with every bit a message of its own."""
    users, bits = answers.shape
    found = laws.calibrate("flip", replace(ask, split=True), epsilon, DELTA, tolerance=CLOSE)
    mechanism = single_bit(fakes=0, threshold=found.threshold, crowd=users)
    squares = [seen(mechanism, answers[:, [bit]], 1, chance) ** 2 for bit in range(bits)]
    print(
        f"  split into {bits} messages: flip {found.threshold / 2**64:.3g}, error "
        f"{laws.standard_error('flip', found):6.2f}, seen {math.sqrt(np.mean(squares)):6.2f}"
    )


def main() -> None:
    """A single bit, then a vector of five, then the vector bit by bit."""
    chance = SeededChance(11)
    bit, vector = asked(20_000, 1), asked(5_000, 5)
    print(f"one bit of {len(bit):,} people at epsilon = 1, delta = {DELTA:g}")
    play("single-bit", Ask(users=len(bit), fakes=0), 1.0, bit, chance)
    print(f"five bits of {len(vector):,} people at epsilon = 2, delta = {DELTA:g}")
    ask = Ask(users=len(vector), bits=5)
    play("flip", ask, 2.0, vector, chance)
    split(ask, 2.0, vector, chance)


if __name__ == "__main__":
    main()

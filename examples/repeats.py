"""Every record sent k times with fresh noise: the gain in accuracy at the same guarantee.

K-randomization promises sqrt(k) times the accuracy. But k reports reveal more than one. So at the
same epsilon and delta each report needs more flips. They remove most of the gain for a single bit,
and part of it for a vector that is sent whole. Sending every bit of the vector as its own message
needs as many messages and has a much smaller error. Look at the real error and at the error "by
sqrt(k)".

The crowd is invented: 20,000 people with one yes or no, and 5,000 people with five.
"""

import math

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.calibrate import calibrate
from mixtally.lab.simulation.play import play_parts
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.mechanism import BitFlips, Parameter
from mixtally.model.mechanism.presets import flip_bits, single_bit
from mixtally.planning.layouts import plain_part
from mixtally.primitives.chance import Chance
from mixtally.primitives.fixed_point import MOST_THRESHOLD, SCALE
from mixtally.protocol.encode.bits import pack_vectors

DELTA = 1e-6
CLOSE = 5e-3
"""The relative tolerance of a flip probability: seconds instead of a minute."""
TIMES = (1, 2, 5)
RUNS = 100
"""The simulated collections. In 19 of 20 cases the measured error is within 14 % of the predicted
one, and within 7 % over five bits.
"""

Bits = NDArray[np.uint8]


def asked(users: int, bits: int) -> Bits:
    """Return everyone's bits, shape (users, bits): the first is rare, the last held by half."""
    people = np.arange(users)
    columns = [people % (2 * bits) <= bit for bit in range(bits)]
    return np.stack(columns, axis=1).astype(np.uint8)


def counted(mechanism: BitFlips, answers: Bits, chance: Chance) -> NDArray[np.float64]:
    """Return the counts of one collection."""
    part = replace(plain_part(mechanism.bins, None, mechanism.threshold), repeats=mechanism.repeats)
    records = pack_vectors(answers.tobytes(), mechanism.bins)
    (tally,) = play_parts([part], 1, [records], chance).tallies
    return mechanism.debias_counts(tally.counts, tally.messages)


def seen(mechanism: BitFlips, answers: Bits, chance: Chance) -> float:
    """Return the root mean square error of many collections, over all bits."""
    truth = answers.sum(axis=0)
    errors = [counted(mechanism, answers, chance) - truth for _ in range(RUNS)]
    return float(np.sqrt(np.mean(np.square(errors))))


def least_flips(mechanism: BitFlips, epsilon: float, pieces: int = 1) -> BitFlips:
    """Return the mechanism with the flips that ``pieces`` of its messages need together."""
    record = Record.of(mechanism, pieces=pieces)
    found = calibrate(Accountant(), record, Parameter.FLIP, epsilon, DELTA, tolerance=CLOSE)
    assert isinstance(found.message.mechanism, BitFlips)
    return found.message.mechanism


def play(epsilon: float, answers: Bits, chance: Chance) -> None:
    """Print a line for every number of reports, with the needed flips and the resulting error."""
    users, bits = answers.shape
    once = math.nan
    for times in TIMES:
        any_flip = (
            single_bit(fakes=0, threshold=MOST_THRESHOLD, crowd=users, repeats=times) if bits == 1
            else flip_bits(bins=bits, threshold=MOST_THRESHOLD, crowd=users, repeats=times)
        )  # fmt: skip
        mechanism = least_flips(any_flip, epsilon)
        predicted = mechanism.standard_error(users)
        once = predicted if times == 1 else once
        print(
            f"  sent {times} times: flip {share(mechanism):.3g}, error {predicted:6.2f}, seen "
            f"{seen(mechanism, answers, chance):6.2f}; by sqrt(k) {once / math.sqrt(times):.2f}"
        )


def split(epsilon: float, answers: Bits, chance: Chance) -> None:
    """Print the error if every bit of the vector is a message of its own."""
    users, bits = answers.shape
    any_flip = single_bit(fakes=0, threshold=MOST_THRESHOLD, crowd=users)
    mechanism = least_flips(any_flip, epsilon, pieces=bits)
    squares = [seen(mechanism, answers[:, [bit]], chance) ** 2 for bit in range(bits)]
    print(
        f"  split into {bits} messages: flip {share(mechanism):.3g}, error "
        f"{mechanism.standard_error(users):6.2f}, seen {math.sqrt(np.mean(squares)):6.2f}"
    )


def share(mechanism: BitFlips) -> float:
    """Return the probability that a bit is flipped."""
    return mechanism.threshold / SCALE


def main() -> None:
    """Simulate a single bit, then a vector of five bits, then the vector bit by bit."""
    chance = SeededChance(11)
    bit, vector = asked(20_000, 1), asked(5_000, 5)
    print(f"one bit of {len(bit):,} people at epsilon = 1, delta = {DELTA:g}")
    play(1.0, bit, chance)
    print(f"five bits of {len(vector):,} people at epsilon = 2, delta = {DELTA:g}")
    play(2.0, vector, chance)
    split(2.0, vector, chance)


if __name__ == "__main__":
    main()

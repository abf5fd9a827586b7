"""collection: whether what really runs is what was audited message by message.

The code is played as people run it. Devices send one record at a time, so that the last bit of a
batch is the last bit of a message; a whole collection is larger than the span that is randomized at
once, every message of it is counted, and it is shuffled; large batches are shuffled; the words that
noise is made of never come twice, from the chance of these attacks and from the secure one.

BitFlips are drawn at two probes, one for each way in which the code draws them: a plan's own may be
too rare to be seen. All are exact binomial tests that share the false-alarm rate; a sum of
independent draws of several chances varies less than the binomial it is tested as (Hoeffding 1956).
"""

import numpy as np

from mixtally.attacks.checks import Checks, audit, flagged
from mixtally.attacks.lone import lone_checks
from mixtally.attacks.outcome import Lab, Outcome
from mixtally.attacks.shuffling import large_shuffle_checks
from mixtally.attacks.target import Target
from mixtally.attacks.wordstream import word_checks
from mixtally.errors import MessageError
from mixtally.ground.bits import Rows
from mixtally.ground.fixed import SCALE
from mixtally.records.mechanism import BitFlips, Parameter, ShapedFakes, Shuffled
from mixtally.tally.fold import tally_messages

NAME = "collection"
PROBE = 3 * SCALE // 10
_BATCH_BYTES = 5 << 20
"""More than the span of people who are randomized at once."""
_MESSAGES, _MOST_BYTES = 12_000, 1 << 26
_MOST_SHAPED = 5_000_000


def run(target: Target, lab: Lab) -> list[Outcome]:
    """Every test there is for the mechanism."""
    mechanism = target.mechanism
    words = word_checks(lab.chance)
    if flagged(words, lab.error)[0]:  # nothing that is drawn from such words need ever end
        return [audit(NAME, words, lab, 0, "words alone: they repeat")]
    checks, sent = lone_checks(mechanism, lab)
    checks += words
    moved, shuffled = large_shuffle_checks(lab)
    checks += moved
    played, messages = collection_checks(mechanism, lab)
    checks += played
    return [
        audit(
            NAME,
            checks,
            lab,
            sent + shuffled + messages,
            f"{sent:,} messages sent one by one, a collection of {messages:,}, and batches of "
            f"{shuffled:,} shuffled",
        )
    ]


def collection_checks(mechanism: Shuffled, lab: Lab) -> tuple[list[Checks], int]:
    """Tests of a whole collection, half of it of the last bin and half of the first."""
    small, users = _sized(mechanism)
    if users == 0:
        return [], 0
    bins = small.bins
    held = np.where(np.arange(users) < users // 2, bins - 1, 0)
    sent: list[Rows] = []
    try:
        lab.play(small, held, lab.chance, watch=sent.append)
    except MessageError:
        return [Checks.of("collection that the collector refuses", 1, 1, 0.0)], 0
    rows = np.concatenate(sent)
    people = users * small.repeats
    first = len(rows) // 2
    halves = [tally_messages(small.layout, half).counts for half in (rows[:first], rows[first:])]
    seen = halves[0] + halves[1]
    own = np.bincount(held, minlength=bins) * small.repeats
    ends = np.array([0, bins - 1])
    order = Checks.of(
        "bit set in the first half of what a mix sends",
        halves[0][ends],
        seen[ends],
        first / len(rows),
    )
    if small.shaped is not None:
        return [order, *_shaped(small.shaped, seen - own)], len(rows)
    missing = len(rows) - people - small.fakes_promised
    due = Checks.exact("message that is missing or too many", missing)
    return [order, due, *_noise(small, seen, own, len(rows))], len(rows)


def _sized(mechanism: Shuffled) -> tuple[Shuffled, int]:
    """The protocol with a flip that is seen and fakes that are quick, and how many people."""
    size = mechanism.layout.message_bytes * mechanism.repeats
    users = 1 + max(_BATCH_BYTES // size, min(_MESSAGES, _MOST_BYTES // size))
    if (shaped := mechanism.shaped) is not None:
        drawn = shaped.mixes * len(shaped.weights) * mechanism.bins
        return mechanism, users if drawn <= _MOST_SHAPED else 0
    small = mechanism
    if isinstance(mechanism, BitFlips):
        small = mechanism.having(Parameter.FLIP, PROBE)
    if mechanism.fakes_promised:
        small = small.having(Parameter.FAKES, users // 4)
    return small, users


def _noise(mechanism: Shuffled, seen: np.ndarray, own: np.ndarray, messages: int) -> list[Checks]:
    """Bins against what their holders, fakes and flips should show."""
    bins, held = mechanism.bins, own.sum()
    q = PROBE / SCALE if isinstance(mechanism, BitFlips) else 0.0
    gain = 1.0 - 2.0 * q
    fakes = mechanism.fakes_promised / bins if mechanism.uniform_fakes else 0.0
    if not isinstance(mechanism, BitFlips):
        rest = np.maximum(seen - own, 0)
        return [Checks.of("fake in a bin of a collection", rest, messages - held, 1.0 / bins)]
    due = q + gain * (own + fakes) / messages
    checks = [Checks.of("bit set in a collection", seen, messages, due)]
    if bins > 2:
        inner = slice(1, bins - 1)
        trials = messages * (bins - 2)
        checks.append(Checks.of("any other bit", seen[inner].sum(), trials, due[inner].mean()))
    return checks


def _shaped(shaped: ShapedFakes, numbers: np.ndarray) -> list[Checks]:
    """How many fakes all mixes together added to each bin."""
    pmf = one = np.array([float(weight) for weight in shaped.weights]) / SCALE
    for _ in range(shaped.mixes - 1):
        pmf = np.convolve(pmf, one)
    bins, mean = len(numbers), shaped.mixes * shaped.shift
    past = int(((numbers < 0) | (numbers >= len(pmf))).sum())
    below = min(1.0, float(pmf[:mean].sum()))
    return [
        Checks.of("impossible number of fakes in a collection", past, bins, 0.0),
        Checks.of("fewer fakes than the mean", int((numbers < mean).sum()), bins, below),
    ]

"""collection: whether what really runs is what was audited message by message.

The code is played as people run it. Devices send one record at a time, so that the last bit of a
batch is the last bit of a message; a whole collection is larger than the span that is randomized at
once, every message of it is counted, and it is shuffled; large batches are shuffled; the words that
noise is made of never come twice, from the chance of these attacks and from the secure one.

Flips are drawn at two probes, one for each way in which the code draws them: a plan's own may be
too rare to be seen. All are exact binomial tests that share the false-alarm rate; a sum of
independent draws of several chances varies less than the binomial it is tested as (Hoeffding 1956).
"""

from dataclasses import replace

import numpy as np

from mixtally.errors import MessageError
from mixtally.ground.bits import Rows
from mixtally.ground.fixed import SCALE
from mixtally.lab.attack.audit import audit
from mixtally.lab.attack.checks import Checks, flagged
from mixtally.lab.attack.lone import lone_checks
from mixtally.lab.attack.outcome import Lab, Outcome
from mixtally.lab.attack.shuffling import shuffle_checks
from mixtally.lab.attack.target import Target
from mixtally.lab.attack.wordstream import word_checks
from mixtally.protocols.base import Protocol
from mixtally.protocols.clear_shaped import ClearShaped
from mixtally.protocols.flips import Flips
from mixtally.tally.fold import tally_messages

NAME = "collection"
PROBE = 3 * SCALE // 10
_BATCH_BYTES = 5 << 20
"""More than the span of people who are randomized at once."""
_MESSAGES, _MOST_BYTES = 12_000, 1 << 26
_MOST_SHAPED = 5_000_000


def run(target: Target, lab: Lab) -> list[Outcome]:
    """Every test there is for the protocol."""
    protocol = target.protocol
    words = word_checks(lab.chance)
    if flagged(words, lab.error)[0]:  # nothing that is drawn from such words need ever end
        return [audit(NAME, words, lab, 0, "words alone: they repeat")]
    checks, sent = lone_checks(protocol, lab)
    checks += words
    moved, shuffled = shuffle_checks(lab)
    checks += moved
    played, messages = whole_checks(protocol, lab)
    checks += played
    return [
        audit(
            NAME, checks, lab, sent + shuffled + messages,
            f"{sent:,} messages sent one by one, a collection of {messages:,}, and batches of "
            f"{shuffled:,} shuffled",
        )
    ]  # fmt: skip


def whole_checks(protocol: Protocol, lab: Lab) -> tuple[list[Checks], int]:
    """Tests of a whole collection, half of it of the last bin and half of the first."""
    small, users = _sized(protocol)
    if users == 0:
        return [], 0
    bins = small.bins
    held = np.where(np.arange(users) < users // 2, bins - 1, 0)
    sent: list[Rows] = []
    try:
        lab.device.play(small, held, lab.chance, watch=sent.append)
    except MessageError:
        return [Checks.of("collection that the collector refuses", 1, 1, 0.0)], 0
    rows = np.concatenate(sent)
    people = users * small.messages_per_record
    first = len(rows) // 2
    halves = [tally_messages(small.layout, half).counts for half in (rows[:first], rows[first:])]
    seen = halves[0] + halves[1]
    own = np.bincount(held, minlength=bins) * small.messages_per_record
    ends = np.array([0, bins - 1])
    order = Checks.of(
        "bit set in the first half of what a mix sends", halves[0][ends], seen[ends],
        first / len(rows),
    )  # fmt: skip
    if isinstance(small, ClearShaped):
        return [order, *_shaped(small, seen - own)], len(rows)
    missing = abs(len(rows) - people - small.fakes)
    due = Checks.of("message that is missing or too many", missing, max(1, missing), 0.0)
    return [order, due, *_noise(small, seen, own, len(rows))], len(rows)


def _sized(protocol: Protocol) -> tuple[Protocol, int]:
    """The protocol with a flip that is seen and fakes that are quick, and how many people."""
    size = protocol.layout.message_bytes * protocol.messages_per_record
    users = 1 + max(_BATCH_BYTES // size, min(_MESSAGES, _MOST_BYTES // size))
    if isinstance(protocol, ClearShaped):
        drawn = protocol.mixes * len(protocol.weights) * protocol.bins
        return protocol, users if drawn <= _MOST_SHAPED else 0
    fakes = users // 4 if protocol.fakes else 0
    if isinstance(protocol, Flips):
        return replace(protocol, threshold=PROBE, fakes=fakes), users
    return replace(protocol, fakes=fakes), users


def _noise(protocol: Protocol, seen: np.ndarray, own: np.ndarray, messages: int) -> list[Checks]:
    """Bins against what their holders, fakes and flips should show."""
    bins, held = protocol.bins, own.sum()
    q = PROBE / SCALE if isinstance(protocol, Flips) else 0.0
    gain = 1.0 - 2.0 * q
    fakes = protocol.fakes / bins if protocol.uniform_fakes else 0.0
    if not isinstance(protocol, Flips):
        rest = np.maximum(seen - own, 0)
        return [Checks.of("fake in a bin of a collection", rest, messages - held, 1.0 / bins)]
    due = q + gain * (own + fakes) / messages
    checks = [Checks.of("bit set in a collection", seen, messages, due)]
    if bins > 2:
        inner = slice(1, bins - 1)
        trials = messages * (bins - 2)
        checks.append(Checks.of("any other bit", seen[inner].sum(), trials, due[inner].mean()))
    return checks


def _shaped(protocol: ClearShaped, numbers: np.ndarray) -> list[Checks]:
    """How many fakes all mixes together added to each bin."""
    law = one = np.array([float(weight) for weight in protocol.weights]) / SCALE
    for _ in range(protocol.mixes - 1):
        law = np.convolve(law, one)
    bins, mean = protocol.bins, protocol.mixes * protocol.shift
    past = int(((numbers < 0) | (numbers >= len(law))).sum())
    below = min(1.0, float(law[:mean].sum()))
    return [
        Checks.of("impossible number of fakes in a collection", past, bins, 0.0),
        Checks.of("fewer fakes than the mean", int((numbers < mean).sum()), bins, below),
    ]

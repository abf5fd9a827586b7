"""poisoning: how far one corrupt message can move the estimate of a bin.

Nobody can stop a person from lying about their own answer; the bound is what the protocol's
debiasing makes of one message, 1 in clear and 1 / (1 - 2q) for flips. The attacker sends every lie
that might move more: all bits, none, each single one, bits past the last, numbers past the last
bin. What the collector refuses moves nothing. Every lie goes through the production tally and
debiasing.
"""

from collections.abc import Iterator

import numpy as np

from mixtally.attacks.outcome import Lab, Outcome, Verdict
from mixtally.attacks.target import Target
from mixtally.errors import MessageError
from mixtally.ground.bits import Rows
from mixtally.ground.tails import Floats
from mixtally.records.layout import Form
from mixtally.records.mechanism import Shuffled
from mixtally.tally.fold import tally_messages

NAME = "poisoning"
_OTHERS = 50
_SINGLES = 64
_SLACK = 1.0 + 1e-9


def run(target: Target, lab: Lab) -> list[Outcome]:
    """The worst of all lies against the bound."""
    mechanism = target.mechanism
    codes = np.arange(_OTHERS, dtype=np.int64) % mechanism.bins
    honest = lab.device.reports(mechanism, codes, lab.chance)
    estimates, refused = [], 0
    for lie in lies(mechanism):
        try:
            estimates.append(_estimate(mechanism, honest, lie))
        except MessageError:
            refused += 1
    every = np.array(estimates)
    moved = float((every.max(axis=0) - every.min(axis=0)).max())
    bound = 1.0 / mechanism.gain
    messages = mechanism.repeats + mechanism.fakes_sent / target.users
    return [
        Outcome(
            NAME,
            "one corrupt message",
            bound,
            moved,
            "counts",
            Verdict.CONSISTENT if moved <= bound * _SLACK else Verdict.VIOLATED,
            len(estimates) + refused,
            f"{len(estimates):,} lies that were tallied and {refused:,} that were refused",
            "largest difference between two lies in the estimate of a bin; exhaustive by kind",
            numbers={
                "refused": refused,
                "messages_of_a_user": messages,
                "counts_of_a_user": messages * moved,
                "every_bin_at_once": mechanism.flip_threshold is not None,
            },
        )
    ]


def _estimate(mechanism: Shuffled, honest: Rows, lie: Rows) -> Floats:
    layout = mechanism.layout
    tally = tally_messages(layout, honest)
    one = tally_messages(layout, lie)
    return mechanism.unbiased(tally.counts + one.counts, tally.messages + 1)


def lies(mechanism: Shuffled) -> Iterator[Rows]:
    """Messages an attacker might send: allowed ones first, then malformed ones."""
    layout = mechanism.layout
    width, bins = layout.message_bytes, mechanism.bins
    some = np.unique(np.linspace(0, bins - 1, min(bins, _SINGLES)).astype(np.int64))
    yield from (row[None, :] for row in layout.rows(some))
    if layout.form is Form.BITS:
        yield layout.blank(1)
        yield np.packbits(np.ones((1, bins), dtype=np.uint8), axis=1, bitorder="little")
        if bins % 8:
            past = layout.blank(1)
            past[0, -1] = 0x80
            yield past
    elif bins < 256**width:
        yield layout.rows(np.array([bins]))
    yield np.full((1, width), 0xFF, dtype=np.uint8)
    yield np.full((1, width + 1), 0xFF, dtype=np.uint8)
    yield np.zeros((1, width + 1), dtype=np.uint8)

"""The attack ``poisoning``: how far one corrupt message can move the estimate of a bin.

No protocol prevents people from lying about their own answer. So the bound is the change of an
estimate by one allowed message: 1 in clear, k/m if m of the k slots (bins) of a record are sent,
and 1 / (1 - 2q) with flip probability q. The attacker tries every message (*lie*) that might have a
larger effect: all bits set, no bit set, single bits, and as many bins as a message may name.
Malformed lies set bits after the last bin, or name a bin after the last one. Messages that the
collector refuses have no effect. The production tally and debiasing process every lie.
"""

from collections.abc import Iterator
from itertools import chain

import numpy as np

from mixtally.errors import MessageError
from mixtally.lab.attacks.outcome import AttackLab, Outcome, Verdict
from mixtally.lab.attacks.records import records_in_clear
from mixtally.lab.attacks.senders import points_of
from mixtally.lab.attacks.target import Target
from mixtally.model.contract import Part
from mixtally.model.estimates import Tally
from mixtally.model.guarantee import LEAST_USERS
from mixtally.model.layout import Form, Layout
from mixtally.primitives.bits import Counts, Rows
from mixtally.primitives.wide import make_numbers
from mixtally.protocol.estimate.planes import count_pointing_at
from mixtally.protocol.tally.fold import add_tallies, tally_messages

NAME = "poisoning"
_OTHERS = 50
"""The honest messages among which a lie is tallied."""
_SINGLES = 64
"""The largest number of messages with a single bin that are tried."""
_SLACK = 1.0 + 1e-9
"""Tolerance for the rounding of estimates."""


def run(target: Target, lab: AttackLab) -> list[Outcome]:
    """Attack every distinct part with the most harmful messages, and compare with the bound."""
    return [
        _attack_part(name, part, target.hops, lab) for name, part in target.distinct_parts().items()
    ]


def _attack_part(name: str, part: Part, hops: int, lab: AttackLab) -> Outcome:
    layout = part.layout
    needs_crowd = part.replaced is not None or (part.own is None and not part.by_mixes)
    mechanism = part.mechanism(fakes=0, crowd=LEAST_USERS * needs_crowd, mixes=hops)
    codes = np.arange(_OTHERS, dtype=np.int64) % part.bins
    honest = tally_messages(
        layout, lab.device.reports(part, records_in_clear(part, codes), lab.chance)
    )
    estimates, refused = [], 0
    for lie in chain(iterate_lies(layout), _iterate_value_planes(part, lab)):
        try:
            tally = add_tallies(honest, tally_messages(layout, lie))
        except MessageError:
            refused += 1
        else:
            seen = _select_counts(part, tally)
            estimates.append(mechanism.debias_counts(seen, tally.messages))
    every = np.array(estimates)
    moved, bound = float(np.ptp(every, axis=0).max()), 1.0 / mechanism.gain
    return Outcome(
        NAME,
        f"one corrupt message{name}",
        bound,
        moved,
        "counts",
        Verdict.CONSISTENT if moved <= bound * _SLACK else Verdict.VIOLATED,
        len(estimates) + refused,
        f"{len(estimates):,} lies that were tallied and {refused:,} that were refused",
        "largest difference between two lies in the estimate of a bin; exhaustive by kind",
        numbers={
            "refused": refused,
            "messages_of_a_user": part.mean_sent,
            "counts_of_a_user": part.mean_sent * moved,
            "every_bin_at_once": part.threshold is not None,
        },
    )


def _iterate_value_planes(part: Part, lab: AttackLab) -> Iterator[Rows]:
    """Yield messages whose plane contains one of the few values whose estimates are compared.

    A plane chosen at random rarely contains one of these values.
    """
    if part.planes is not None:
        values = np.arange(min(part.bins, _SINGLES), dtype=np.int64)
        yield from (row[None, :] for row in lab.device.reports(part, values, lab.chance))


def _select_counts(part: Part, tally: Tally) -> Counts:
    """Return the counts that are estimated.

    If messages name planes, these are the counts of a few values, including the liar's value.
    """
    if part.planes is None:
        return tally.counts
    points = points_of(part, part.planes, np.arange(min(part.bins, _SINGLES)))
    return count_pointing_at(part.planes, tally, points)[0]


def iterate_lies(layout: Layout) -> Iterator[Rows]:
    """Yield messages that an attacker might send: allowed ones first, then malformed ones."""
    width, bins = layout.message_bytes, layout.bins
    singles = min(bins, _SINGLES)
    places = {(bins - 1) * place // max(1, singles - 1) for place in range(singles)}
    some = make_numbers(sorted(places), bins)
    yield from (row[None, :] for row in layout.rows(some))
    if layout.form is not Form.INDEX:
        yield layout.blank_rows(1)
        yield _message_of_first_bins(layout, layout.cap or bins)
    if layout.form is Form.BITS:
        yield _message_of_first_bins(layout, bins)
        if bins % 8:
            past = layout.blank_rows(1)
            past[0, -1] = 0x80
            yield past
    elif bins < 1 << 8 * width and bins < 1 << layout.position_bits:
        yield layout.rows(make_numbers([bins], bins))
    yield np.full((1, width), 0xFF, dtype=np.uint8)
    yield np.full((1, width + 1), 0xFF, dtype=np.uint8)
    yield np.zeros((1, width + 1), dtype=np.uint8)


def _message_of_first_bins(layout: Layout, count: int) -> Rows:
    """Return a message that names the first ``count`` bins."""
    if layout.form is Form.POSITIONS:
        return layout.write_positions(np.zeros(count, dtype=np.int64), np.arange(count), 1)
    ones = (np.arange(layout.bins) < count).astype(np.uint8)
    return np.packbits(ones[None], axis=1, bitorder="little")

"""randomizer: whether the code draws the noise that its plan pays for.

Reports and fakes are drawn by the code under audit and counted: how often every bit position of a
report was flipped where it should be clear and where it should be set, of a fake;
whether a report of bin i has bit i; whether neighboring positions and messages that follow each
other are flipped independently; how often fakes in clear fall into each bin, or each number of
shaped fakes is drawn; whether the shuffle sends the first message everywhere alike. All are exact
binomial tests that share the false-alarm rate.

A plan may flip so rarely that few flips can be seen. So the same code is also audited at probe
thresholds, one for each of its two ways to draw.
"""

from dataclasses import dataclass

import numpy as np

from mixtally.attacks.audit import audit
from mixtally.attacks.checks import Checks
from mixtally.attacks.outcome import Lab, Outcome
from mixtally.attacks.target import Target
from mixtally.ground.bits import Counts, Rows, spans
from mixtally.ground.counting import column_counts
from mixtally.ground.fixed import SCALE
from mixtally.records.layout import Form, Layout
from mixtally.records.mechanism import BitFlips, Parameter, ShapedFakes, Shuffled

NAME = "randomizer"
MOST_REPORTS = 96_000
"""All reports and fakes of an audit, below 10^5 but for shifts above 20,000."""
_BIT_BUDGET = 150_000_000
_PROBES = (SCALE // 200, 3 * SCALE // 10)
_SPAN_BITS = 1 << 23
_MOST_BINS_SHUFFLED = 64
_BLOCKS = 64


def run(target: Target, lab: Lab) -> list[Outcome]:
    """Every test there is for the mechanism."""
    mechanism = target.mechanism
    drawn: list[Checks] = []
    numbers = 0
    if isinstance(mechanism, BitFlips):
        thresholds = [mechanism.threshold, *_PROBES]
        for threshold in thresholds:
            checks, messages = flip_checks(mechanism.having(Parameter.FLIP, threshold), lab)
            drawn += checks
            numbers += messages
    elif (shaped := mechanism.shaped) is not None:
        checks, numbers = shaped_checks(mechanism, shaped, lab)
        drawn += checks
    else:
        checks, numbers = uniform_checks(mechanism, lab)
        drawn += checks
    drawn += shuffle_checks(lab)
    played = f"{numbers:,} reports and fakes, all positions"
    return [audit(NAME, drawn, lab, numbers, played)]


def _messages(mechanism: Shuffled, share: int) -> int:
    """Reports to draw: ``share`` of what is allowed, fewer where messages are long."""
    return max(500, min(MOST_REPORTS // share, _BIT_BUDGET // (share * mechanism.bins)))


@dataclass(slots=True)
class _Flips:
    """What was counted in ``half`` reports and as many fakes, bin by bin and message by message.

    where
      clear, own   flips of clear bits and of a report's own, by bin
      fake         bits that fakes set
      held         reports of each bin
      neighbors    even bits that flipped together with the next one, in ``seen`` messages
      following    bits that flipped in two messages in a row
    """

    half: int
    clear: Counts
    own: Counts
    fake: Counts
    held: Counts
    neighbors: int = 0
    seen: int = 0
    following: int = 0
    pairs: int = 0
    fakes_following: int = 0
    fake_pairs: int = 0


def flip_checks(mechanism: BitFlips, lab: Lab) -> tuple[list[Checks], int]:
    """Tests of flipped reports and of flipped fakes, and how many were drawn.

    Of a uniform fake's bits one is likelier set than the others: their sum varies less than the
    binomial it is tested as, which only makes false alarms rarer (Hoeffding 1956).
    """
    bins, q = mechanism.bins, mechanism.flip_probability
    found = _flips(mechanism, lab)
    half, label = found.half, f"at q = {q:.3g}"
    fake_rate = q + mechanism.contrast / bins if mechanism.uniform_fakes else q  # a bit of a fake
    clear, own, fake = found.clear, found.own, found.fake
    places = half * _by_place(np.ones_like(fake))
    checks = [
        Checks.of(f"bit set that is clear, {label}", clear, half - found.held, q),
        Checks.of(f"bit clear that is set, {label}", own, found.held, q),
        Checks.of(f"bit of a fake set, {label}", fake, half, fake_rate),
        Checks.of(
            f"bit of a fake set, by place mod {_BLOCKS}, {label}",
            _by_place(fake),
            places,
            fake_rate,
        ),
        Checks.of(f"any clear bit set, {label}", clear.sum(), half * (bins - 1), q),
        Checks.of(f"any set bit clear, {label}", own.sum(), half, q),
        Checks.of(f"any bit of a fake set, {label}", fake.sum(), half * bins, fake_rate),
        Checks.of(f"two messages in a row, {label}", found.following, found.pairs * bins, q * q),
    ]
    if bins > 1:
        trials = found.seen * (bins // 2)
        checks.append(Checks.of(f"two neighboring bits, {label}", found.neighbors, trials, q * q))
    if mechanism.uniform_fakes:
        name, trials = f"two fakes in a row, {label}", found.fake_pairs * bins
        checks.append(Checks.of(name, found.fakes_following, trials, fake_rate * fake_rate))
    return checks, 2 * half


def _flips(mechanism: BitFlips, lab: Lab) -> _Flips:
    """Draw the messages and count."""
    bins, times = mechanism.bins, mechanism.repeats
    half = _messages(mechanism, 6)
    found = _Flips(half, *np.zeros((4, bins), np.int64))
    for span in spans(half, max(2, _SPAN_BITS // bins)):
        count = span.stop - span.start
        codes = (np.arange(span.start, span.stop) + _spread(bins, half)) % bins
        # A record's repeats stand together: each of them is a report like any other.
        people = codes[::times]
        codes = np.repeat(people, times)[:count]
        rows = lab.device.reports(mechanism, people, lab.chance)[:count]
        held = mechanism.layout.rows(codes)
        found.own += np.bincount(codes, weights=1 - _bit(rows, codes), minlength=bins).astype(int)
        found.held += np.bincount(codes, minlength=bins)
        found.clear += column_counts(rows & ~held, bins)
        blanks = lab.device.fakes(mechanism, count, lab.chance)
        found.fake += column_counts(blanks, bins)
        flips = rows ^ held if mechanism.uniform_fakes else np.concatenate([rows ^ held, blanks])
        even = flips & np.uint8(0x55) & (flips >> 1)
        found.neighbors += int(np.bitwise_count(even).sum(dtype=np.int64))
        found.seen += len(flips)
        found.following += _twice_in_a_row(flips)
        found.pairs += len(flips) // 2
        found.fakes_following += _twice_in_a_row(blanks)
        found.fake_pairs += count // 2
    return found


def _twice_in_a_row(flips: Rows) -> int:
    """Bits set in a message and in the next, of pairs that share none."""
    pairs = len(flips) // 2
    both = flips[0 : 2 * pairs : 2] & flips[1 : 2 * pairs : 2]
    return int(np.bitwise_count(both).sum(dtype=np.int64))


def _spread(bins: int, count: int) -> int:
    """Where codes start, so that a few reports of many bins end with the last bin."""
    return bins - count if count < bins else 0


def _bit(rows: Rows, codes: Counts) -> Rows:
    """Bit ``codes[i]`` of row i, 0 or 1."""
    found = rows[np.arange(len(codes)), codes >> 3] >> (codes & 7).astype(np.uint8) & 1
    return np.asarray(found)


def _by_place(counts: Counts) -> Counts:
    """Counts of the positions whose numbers agree modulo 64: where they lie in a word."""
    return np.bincount(np.arange(len(counts)) % _BLOCKS, weights=counts).astype(np.int64)


def _by_block(counts: Counts) -> Counts:
    """Counts of up to 64 runs of neighboring bins."""
    starts = np.unique(np.linspace(0, len(counts), _BLOCKS + 1)[:-1].astype(np.intp))
    return np.add.reduceat(counts, starts)


def uniform_checks(mechanism: Shuffled, lab: Lab) -> tuple[list[Checks], int]:
    """Tests of records and uniform fakes in clear."""
    bins, layout = mechanism.bins, mechanism.layout
    half = MOST_REPORTS // 2
    codes = (np.arange(half) + _spread(bins, half)) % bins
    wrong = layout.codes(lab.device.reports(mechanism, codes, lab.chance)) != codes
    fakes = layout.codes(lab.device.fakes(mechanism, half, lab.chance))
    seen = np.bincount(fakes, minlength=bins)
    past = int(seen[bins:].sum())
    same = int((fakes[0:half:2] == fakes[1:half:2]).sum())
    share = _by_block(np.ones(bins, dtype=np.int64)) / bins
    return [
        Checks.of("report that names another bin", wrong.sum(), half, 0.0),
        Checks.of("fake past the last bin", past, half, 0.0),
        Checks.of("fake in a bin", seen[:bins], half, 1.0 / bins),
        Checks.of("fake in a block of bins", _by_block(seen[:bins]), half, share),
        Checks.of("two fakes in a row", same, half // 2, 1.0 / bins),
    ], 2 * half


def shaped_checks(mechanism: Shuffled, shaped: ShapedFakes, lab: Lab) -> tuple[list[Checks], int]:
    """Tests of records in clear and of the numbers that a mix draws."""
    layout, weights = mechanism.layout, np.array([float(w) for w in shaped.weights]) * 2.0**-64
    reports = min(MOST_REPORTS // 2, 10_000)
    codes = (np.arange(reports) + _spread(mechanism.bins, reports)) % mechanism.bins
    wrong = layout.codes(lab.device.reports(mechanism, codes, lab.chance)) != codes
    seen, drawn, pairs, same = np.zeros(len(weights), np.int64), 0, 0, 0
    past, messages, most = 0, reports, (MOST_REPORTS - reports) // (2 * shaped.shift)
    bins = max(2, min(mechanism.bins, most))
    layout = Layout(Form.INDEX, bins)
    # Not until enough were drawn: the number of rounds must not depend on what is tested.
    for _ in range(max(1, most // bins)):
        rows = lab.device.shaped(shaped.weights, layout, lab.chance)
        numbers = np.bincount(layout.codes(rows), minlength=bins)[:bins]
        counts = np.bincount(numbers)
        past += int(counts[len(weights) :].sum())
        counts = counts[: len(weights)]
        seen[: len(counts)] += counts
        even = len(numbers) // 2 * 2
        same += int((numbers[0:even:2] == numbers[1:even:2]).sum())
        pairs += even // 2
        drawn += bins
        messages += len(rows)
    away = np.abs(np.arange(len(weights)) - shaped.shift)
    widths = np.unique(np.geomspace(1, shaped.shift, 6).astype(np.intp))
    near_seen = [int(seen[away < width].sum()) for width in widths]
    near_chance = [min(1.0, float(weights[away < width].sum())) for width in widths]
    return [
        Checks.of("report that names another bin", wrong.sum(), reports, 0.0),
        Checks.of("number of fakes past the last", past, drawn, 0.0),
        Checks.of("number of fakes in a bin", seen, drawn, weights),
        Checks.of("number of fakes near the mean", near_seen, drawn, near_chance),
        Checks.of("two neighboring bins", same, pairs, float(weights @ weights)),
    ], messages


def shuffle_checks(lab: Lab) -> list[Checks]:
    """Where the first of a few messages ends up, and that the last does not stay beside it."""
    places = _MOST_BINS_SHUFFLED
    rows = np.arange(places, dtype=np.uint8)[:, None]
    runs = 2_000
    seen, beside = np.zeros(places, dtype=np.int64), 0
    for _ in range(runs):
        mixed = lab.device.shuffle(rows, lab.chance)[:, 0]
        first = int(np.flatnonzero(mixed == 0)[0])
        seen[first] += 1
        beside += int(mixed[(first + 1) % places] == 1)
    return [
        Checks.of("place of the first message after the shuffle", seen, runs, 1.0 / places),
        Checks.of("second message after the first", beside, runs, 1.0 / (places - 1)),
    ]

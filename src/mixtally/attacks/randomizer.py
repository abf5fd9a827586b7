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

import numpy as np

from mixtally.attacks.checks import Checks, audit
from mixtally.attacks.outcome import Lab, Outcome
from mixtally.attacks.shuffling import small_shuffle_checks
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
_BLOCKS = 64


def run(target: Target, lab: Lab) -> list[Outcome]:
    """Every test there is for the mechanism."""
    mechanism = target.mechanism
    if isinstance(mechanism, BitFlips):
        every = [
            flip_checks(mechanism.having(Parameter.FLIP, threshold), lab)
            for threshold in (mechanism.threshold, *_PROBES)
        ]
    elif (shaped := mechanism.shaped) is not None:
        every = [shaped_checks(mechanism, shaped, lab)]
    else:
        every = [uniform_checks(mechanism, lab)]
    drawn = [check for checks, _ in every for check in checks] + small_shuffle_checks(lab)
    numbers = sum(messages for _, messages in every)
    return [audit(NAME, drawn, lab, numbers, f"{numbers:,} reports and fakes, all positions")]


def _messages(mechanism: Shuffled, share: int) -> int:
    """Reports to draw: ``share`` of what is allowed, fewer where messages are long."""
    return max(500, min(MOST_REPORTS // share, _BIT_BUDGET // (share * mechanism.bins)))


def flip_checks(mechanism: BitFlips, lab: Lab) -> tuple[list[Checks], int]:
    """Tests of flipped reports and of flipped fakes, and how many were drawn.

    Of a uniform fake's bits one is likelier set than the others: their sum varies less than the
    binomial it is tested as, which only makes false alarms rarer (Hoeffding 1956).
    """
    half, total = _messages(mechanism, 6), list[Checks]()
    start = _spread(mechanism.bins, half)
    for span in spans(half, max(2, _SPAN_BITS // mechanism.bins)):
        some = _some_flips(mechanism, np.arange(start + span.start, start + span.stop), lab)
        total = [one + other for one, other in zip(total, some, strict=True)] if total else some
    return total, 2 * half


def _some_flips(mechanism: BitFlips, numbers: Counts, lab: Lab) -> list[Checks]:
    """Of as many fakes as ``numbers``, and reports of these bins, modulo how many there are.

    A record's repeats stand together: each of them is a report like any other.
    """
    bins, q, count = mechanism.bins, mechanism.flip_probability, len(numbers)
    label = f"at q = {q:.3g}"
    fake_rate = q + mechanism.contrast / bins if mechanism.uniform_fakes else q  # a bit of a fake
    people = numbers[:: mechanism.repeats] % bins
    codes = np.repeat(people, mechanism.repeats)[:count]
    rows = lab.device.reports(mechanism, people, lab.chance)[:count]
    held, holders = mechanism.layout.rows(codes), np.bincount(codes, minlength=bins)
    clear = column_counts(rows & ~held, bins)
    own = np.bincount(codes, weights=1 - _bit(rows, codes), minlength=bins).astype(np.int64)
    blanks = lab.device.fakes(mechanism, count, lab.chance)
    fake = column_counts(blanks, bins)
    flips = rows ^ held if mechanism.uniform_fakes else np.concatenate([rows ^ held, blanks])
    places = count * _by_place(np.ones_like(fake))
    place = f"bit of a fake set, by place mod {_BLOCKS}, {label}"
    following, pairs = _twice_in_a_row(flips), len(flips) // 2 * bins
    checks = [
        Checks.of(f"bit set that is clear, {label}", clear, count - holders, q),
        Checks.of(f"bit clear that is set, {label}", own, holders, q),
        Checks.of(f"bit of a fake set, {label}", fake, count, fake_rate),
        Checks.of(place, _by_place(fake), places, fake_rate),
        Checks.of(f"any clear bit set, {label}", clear.sum(), count * (bins - 1), q),
        Checks.of(f"any set bit clear, {label}", own.sum(), count, q),
        Checks.of(f"any bit of a fake set, {label}", fake.sum(), count * bins, fake_rate),
        Checks.of(f"two messages in a row, {label}", following, pairs, q * q),
    ]
    if bins > 1:
        even = np.bitwise_count(flips & np.uint8(0x55) & (flips >> 1)).sum(dtype=np.int64)
        trials = len(flips) * (bins // 2)
        checks.append(Checks.of(f"two neighboring bits, {label}", even, trials, q * q))
    if mechanism.uniform_fakes:
        name, trials = f"two fakes in a row, {label}", count // 2 * bins
        checks.append(Checks.of(name, _twice_in_a_row(blanks), trials, fake_rate * fake_rate))
    return checks


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


def uniform_checks(mechanism: Shuffled, lab: Lab) -> tuple[list[Checks], int]:
    """Tests of records and uniform fakes in clear."""
    bins, layout = mechanism.bins, mechanism.layout
    half = MOST_REPORTS // 2
    codes = (np.arange(half) + _spread(bins, half)) % bins
    reports = layout.codes(lab.device.reports(mechanism, codes, lab.chance))
    fakes = layout.codes(lab.device.fakes(mechanism, half, lab.chance))
    seen = np.bincount(fakes, minlength=bins)
    return [
        Checks.of("report that names another bin", (reports != codes).sum(), half, 0.0),
        Checks.of("fake past the last bin", int(seen[bins:].sum()), half, 0.0),
        Checks.of("fake in a bin", seen[:bins], half, 1.0 / bins),
        *uniform_fake_checks("fake", fakes, bins, _BLOCKS),
    ], 2 * half


def uniform_fake_checks(name: str, codes: Counts, bins: int, blocks: int) -> list[Checks]:
    """How many fakes fall into each of up to ``blocks`` runs of neighboring bins, and in a row."""
    starts = np.unique(np.linspace(0, bins, blocks + 1)[:-1].astype(np.intp))
    seen, share = (
        np.add.reduceat(counts, starts)
        for counts in (np.bincount(codes, minlength=bins)[:bins], np.ones(bins, dtype=np.int64))
    )
    pairs = len(codes) // 2
    same = int((codes[0 : 2 * pairs : 2] == codes[1 : 2 * pairs : 2]).sum())
    return [
        Checks.of(f"{name} in a block of bins", seen, len(codes), share / bins),
        Checks.of(f"{name} like the one before", same, pairs, 1.0 / bins),
    ]


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

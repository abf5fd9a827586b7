"""Findings of Notes 004 (2020): flipped bits and one-hot records, with and without fakes."""

import math

import numpy as np

from literature import notes_bits, notes_tails
from literature.finding import Finding, Steps, claim, gather
from literature.notes_bits import PROMISES
from literature.notes_claims import DELTA, DOCUMENT, EPSILON, estimate, propositions, slips
from mixtally.accounting.baselines import central_standard_error
from mixtally.accounting.divergence import clear_uniform, flip_blank, one_hot, single_bit
from mixtally.lab.formulas import notes
from mixtally.lab.formulas.least_noise import (
    least_flip,
    least_flip_among_blanks,
    least_single_bit,
    least_uniform_fakes,
)
from mixtally.primitives.fixed_point import SCALE, threshold_of
from mixtally.report.curves import Chart, Curve

CROWDS, FAKES, BINS = (10**4, 10**5, 10**6), 10**7, 100


def findings(progress: Steps) -> list[Finding]:
    """Return every formula with its numbers, and every claim; the document prints few numbers."""
    parts = (
        propositions, notes_bits.ratios, notes_bits.zeros, notes_tails.bounds,
        notes_bits.symmetries, _single_bit, slips, _clear, _flips, _where_unsafe, _constant,
        estimate, _blank, notes_bits.recurrences, notes_tails.one_more_bit,
    )  # fmt: skip
    return gather(parts, progress)


def charts() -> list[Chart]:
    """Return charts of the delta that formulas keep, the noise that they state, and the errors."""
    return [_broken_chart(), _cover_chart(), _error_chart()]


def _number(
    place: str, what: str, computed: float | tuple[float, float], unit: str = "", note: str = ""
) -> Finding:
    return Finding(DOCUMENT, place, what, None, computed, unit, note)


def _exact_bit(users: int, epsilon: float, delta: float) -> float:
    """Return the least flip probability of single bits in any crowd."""
    return (least_single_bit(users, epsilon, delta).flip_threshold or 0) / SCALE


def _single_bit() -> list[Finding]:
    users = 10**6
    required, least = notes.single_bit(EPSILON, DELTA, users), _exact_bit(users, EPSILON, DELTA)
    exact = single_bit.delta(users, 0, threshold_of(required), EPSILON, count_crowd=True)
    few = 200
    too_much, enough = notes.single_bit(EPSILON, DELTA, few), _exact_bit(few, EPSILON, DELTA)
    return [
        _number("(4.48)", "flips asked, n q at (1, 1e-6)", users * required, "flips"),
        _number("(4.48)", "flips that suffice, exact", users * least, "flips", "n = 1,000,000"),
        claim(DOCUMENT, "(4.48)", "the promise is kept: delta", exact.upper <= DELTA, exact.upper),
        claim(
            DOCUMENT,
            "(4.48)",
            f"q stays below 1/2, n = {few}: q asked",
            too_much < 0.5,
            too_much,
            f"{enough:.3f} suffices",
        ),
    ]


def _clear() -> list[Finding]:
    cover = notes.one_hot_cover(EPSILON, DELTA)
    required, least = (
        math.ceil(BINS * cover),
        least_uniform_fakes(BINS, EPSILON, DELTA),
    )
    kept, grow = clear_uniform.delta(required, BINS, EPSILON), math.exp(EPSILON)
    left = cover * (grow - 1) - math.sqrt(3 * cover * math.log(4 / DELTA)) * (grow + 1) - 1
    errors = [math.sqrt(fakes / BINS * (1 - 1 / BINS)) for fakes in (required, least)]
    return [
        _number("(5.10)", "fakes asked for 100 bins at (1, 1e-6)", required, "fakes"),
        _number("(5.10)", "fakes that suffice, exact", least, "fakes"),
        claim(DOCUMENT, "(5.10)", "the promise is kept: delta", kept.upper <= DELTA, kept.upper,
              f"with {required / least:.2f} times the fakes that suffice"),
        claim(DOCUMENT, "(5.5)", "where (5.10) is met (5.5) is met: its left side >= 0",
              left >= -1e-9, left, "the step to (5.6) drops the -1 in the wrong direction"),
        _number("section 5.1", "deviation in a bin, fakes asked", errors[0], "counts",
                f"{errors[1]:.3g} with the fakes that suffice"),
    ]  # fmt: skip


def _flips() -> list[Finding]:
    found = []
    for users in CROWDS:
        delta = one_hot.messages_delta(
            users, 0, threshold_of(notes.flip(EPSILON, DELTA, users)), EPSILON
        )
        found.append(
            claim(
                DOCUMENT,
                "(5.16)",
                "1e-6 is kept without fakes where messages are seen, epsilon "
                f"= 1, n = {users:,}: delta",
                delta.lower <= DELTA,
                delta,
                "both ends of the exact distribution",
            )
        )
    users = CROWDS[1]
    sums = one_hot.sums_delta(users, 0, threshold_of(notes.flip(EPSILON, DELTA, users)), EPSILON)
    found.append(
        claim(
            DOCUMENT,
            "(5.16)",
            "1e-6 is kept without fakes where only sums are seen, "
            f"epsilon = 1, n = {users:,}: delta",
            sums.upper <= DELTA,
            sums.upper,
        )
    )
    return found


def unsafe_above(epsilon: float) -> float:
    """Return the crowd above which (5.16) without fakes certainly breaks delta = 1e-6.

    The observer sees whole messages.
    """
    low, high = 1000.0, 1e5
    while high > 1.005 * low:
        users = math.sqrt(low * high)
        threshold = threshold_of(min(0.5, notes.flip(epsilon, DELTA, round(users))))
        broken = one_hot.messages_delta(round(users), 0, threshold, epsilon).lower > DELTA
        low, high = (low, users) if broken else (users, high)
    return high


def _where_unsafe() -> list[Finding]:
    return [
        _number(
            "(5.16)",
            f"broken without fakes above, epsilon = {epsilon:g}",
            unsafe_above(epsilon),
            "users",
            "promised: 1e-6",
        )
        for epsilon in (0.5, 1.0, 2.0)
    ]


def crowd_error(users: int) -> float:
    """Return the least standard error at (1, 1e-6) of flips without fakes.

    The observer sees whole messages.
    """
    return least_flip(users, EPSILON, DELTA).standard_error(users)


def _constant() -> list[Finding]:
    stated = math.sqrt(notes.flip_cover(EPSILON, DELTA))
    errors = [crowd_error(users) for users in CROWDS]
    power = math.log(errors[-1] / errors[0]) / math.log(CROWDS[-1] / CROWDS[0])
    return [
        _number(
            "section 1", "the constant to which the deviation is said to tend", stated, "counts"
        ),
        claim(
            DOCUMENT,
            "section 1",
            "without fakes the deviation tends to a constant: power of n",
            abs(power) < 0.05,
            power,
            f"messages, exact: {errors[0]:.1f}, {errors[1]:.1f}, {errors[2]:.1f} counts at n = "
            "1e4, 1e5, 1e6",
        ),
    ]


def _blank() -> list[Finding]:
    found = []
    for epsilon, delta in PROMISES:
        least = least_flip_among_blanks(FAKES, epsilon, delta) * FAKES
        required = notes.one_hot_cover(epsilon, delta)
        name = f"({epsilon:g}, 1e{round(math.log10(delta))})"
        found += [
            _number("(5.26)", f"cover asked at {name}", required, "flips"),
            _number(
                "(5.26)",
                f"cover that suffices at {name}",
                least,
                "flips",
                f"exact, {FAKES:,} fakes: {required / least:.2f} times less",
            ),
        ]
    return found + _blank_claims()


def _blank_claims() -> list[Finding]:
    q = notes.flip_blank(EPSILON, DELTA, FAKES)
    kept = flip_blank.delta(FAKES, threshold_of(q), EPSILON)
    few = notes.flip_blank(EPSILON, DELTA, 400)
    enough = least_flip_among_blanks(400, EPSILON, DELTA)
    t = math.tanh(EPSILON / 2)
    below, above = (1 + 0.9 * t) / (1 - 0.9 * t), (1 + 1.1 * t) / (1 - 1.1 * t)
    return [
        claim(DOCUMENT, "(5.26)", "the promise is kept: delta", kept.upper <= DELTA, kept.upper),
        claim(DOCUMENT, "(5.26)", "q stays below 1/2, 400 fakes: q asked", few < 0.5, few,
              f"{enough:.3f} suffices"),
        claim(DOCUMENT, "before (5.26)", "t >= (e^epsilon - 1) / (e^epsilon + 1) keeps the ratio "
              "below e^epsilon: ratio / e^epsilon <= 1", above <= math.exp(EPSILON),
              above / math.exp(EPSILON),
              f"t ten percent above; ten percent below it is {below / math.exp(EPSILON):.3f}: the "
              "sign must be the other one, as (5.26) has it"),
    ]  # fmt: skip


def _broken_chart() -> Chart:
    crowds = np.geomspace(2000, 10**6, 15)
    curves = []
    for epsilon in (0.5, 1.0, 2.0):
        points = []
        for users in crowds:
            n = round(float(users))
            threshold = threshold_of(min(0.5, notes.flip(epsilon, DELTA, n)))
            lower = one_hot.messages_delta(n, 0, threshold, epsilon).lower
            points.append((float(users), max(1e-12, lower)))
        curves.append(Curve(f"epsilon = {epsilon:g}", tuple(points), dots=True))
    line = tuple((float(n), DELTA) for n in (crowds[0], crowds[-1]))
    return Chart(
        DOCUMENT,
        "(5.16) without fakes: the delta that it leaves",
        "Lower end of the exact distribution for an observer who sees whole messages; values below "
        "1e-12 are drawn there. Promised is 1e-6.",
        "people",
        "true delta, at least",
        (*curves, Curve("promised", line)),
        log_x=True,
        log_y=True,
    )


def _cover_chart() -> Chart:
    scale = np.geomspace(0.1, 4.0, 13).tolist()
    required = tuple((e, notes.one_hot_cover(e, DELTA)) for e in scale)
    least = tuple((e, least_flip_among_blanks(FAKES, e, DELTA) * FAKES) for e in scale)
    bit = tuple((e, notes.single_bit_cover(e, DELTA)) for e in scale)
    bit_least = tuple(
        (e, 10**6 * (least_single_bit(10**6, e, DELTA, ones=0).flip_threshold or 0) / SCALE)
        for e in scale
    )
    return Chart(
        DOCUMENT,
        "How many flips must hide a record: asked and enough, delta = 1e-6",
        "One-hot records among ten million flipped blanks, and single bits in a crowd of a million "
        "zeros.",
        "epsilon",
        "expected flips",
        (
            Curve("asked by (5.26)", required),
            Curve("enough, one-hot", least),
            Curve("asked by (4.48)", bit),
            Curve("enough, one bit", bit_least),
        ),
        log_x=True,
        log_y=True,
    )


def _error_chart() -> Chart:
    crowds = np.geomspace(3000, 10**6, 9)
    exact = tuple((float(n), crowd_error(round(float(n)))) for n in crowds)
    stated = math.sqrt(notes.flip_cover(EPSILON, DELTA))
    flat = tuple((float(n), stated) for n in crowds)
    root = tuple((float(n), exact[0][1] * (n / crowds[0]) ** 0.25) for n in crowds)
    floor = tuple((float(n), central_standard_error(EPSILON)) for n in crowds)
    return Chart(
        DOCUMENT,
        "BitFlips without fakes: the error at (1, 1e-6)",
        "The least standard error that keeps the promise for whole messages, against the constant "
        "of section 1; central: discrete Laplace noise.",
        "people",
        "standard error, counts",
        (
            Curve("exact", exact, dots=True),
            Curve("n^(1/4)", root),
            Curve("said: constant", flat),
            Curve("central", floor),
        ),
        log_x=True,
        log_y=True,
    )

"""The exact delta and the calibration, compared with dp-accounting on the same distributions."""

import math

from dp_accounting.pld import privacy_loss_distribution as pld

from bench.clock import seconds
from bench.row import BenchmarkRow, build_row
from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.calibrate import calibrate
from mixtally.accounting.divergence import flip_blank
from mixtally.model.mechanism import Parameter, Shuffled, presets
from mixtally.primitives import tails
from mixtally.primitives.fixed_point import MOST_THRESHOLD, SCALE


def peer_pair(fakes: int, threshold: int) -> tuple[dict, dict]:
    """Return the log-probabilities of an observation (A, B) of flip-blank, under u and under v.

    A and B are the numbers of messages with the bits u and v set, which determine the likelihood
    ratio.
    """
    records, q = fakes + 1, threshold / SCALE
    low, high = tails.window(records, q)
    law = tails.pmf(records, q, low, high)
    r = (1 - q) / q
    upper, lower = {}, {}
    for i, pa in enumerate(law.tolist(), start=low):
        xu = (i * r + (records - i) / r) / records
        for j, pb in enumerate(law.tolist(), start=low):
            if pa * pb > 1e-20:
                both = math.log(pa * pb)
                upper[i, j] = both + math.log(xu)
                lower[i, j] = both + math.log((j * r + (records - j) / r) / records)
    return lower, upper


DELTA, CALIBRATION = 1000, (0.006, 0.003)
"""The target ratio to the time of dp-accounting; the CPU seconds of a calibration, at most and
hoped.
"""


def rows() -> list[BenchmarkRow]:
    """Return the rows of the benchmark table."""
    fakes = 999_999
    threshold = _blank_flips(fakes).flip_threshold or 0
    ours = seconds(lambda: flip_blank.delta(fakes, threshold, 1.0), 50)
    lower, upper = peer_pair(fakes, threshold)

    def peer() -> float:
        law = pld.from_two_probability_mass_functions(lower, upper, symmetric=False)
        return law.get_delta_for_epsilon(1.0)

    theirs = seconds(peer, 3)
    over = peer() / flip_blank.delta(fakes, threshold, 1.0).upper
    of = f"times dp-accounting, same laws ({_ms(theirs)})"
    out = [
        build_row("flip-blank delta, 1e6 records", _ms(ours), of, theirs / ours, DELTA),
        BenchmarkRow("  dp-accounting's delta / exact", f"{over:.4f}"),
    ]
    for many in (10**6, 10**9):
        took = seconds(lambda n=many: _blank_flips(n), 5)
        least, hoped = CALIBRATION
        what, of = f"flip-blank calibration, {many:.0e} fakes", f"of {1e3 * least:g} ms"
        out.append(build_row(what, _ms(took), of, least / took, 1.0, least / hoped))
    return out


def _blank_flips(fakes: int) -> Shuffled:
    """Return the mechanism with the fewest flips at (1, 1e-6), computed without a cache."""
    blank = presets.flip_blank(bins=2, fakes=fakes, threshold=MOST_THRESHOLD)
    return calibrate(Accountant(), Record.of(blank), Parameter.FLIP, 1.0, 1e-6).message.mechanism


def _ms(value: float) -> str:
    return f"{1e3 * value:.3g} ms"

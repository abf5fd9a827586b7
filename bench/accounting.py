"""Prices: our exact delta and calibration beside dp-accounting fed the same pair of laws."""

import math

from dp_accounting.pld import privacy_loss_distribution as pld

from bench.clock import seconds
from mixtally.ground import tails
from mixtally.ground.fixed import SCALE
from mixtally.privacy import clear_shaped, clear_uniform, flip_blank, price
from mixtally.protocols.clear_shaped import shape_weights


def peer_pair(fakes: int, threshold: int) -> tuple[dict, dict]:
    """Log-probabilities of what the observer can use of flip-blank: (A, B) under u and under v."""
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


def rows() -> list[tuple[str, str, str]]:
    """Benchmark lines: what, measured, ratio."""
    out = []
    fakes, epsilon, target = 999_999, 1.0, 1e-6
    threshold = price.least_threshold(fakes, epsilon, target)
    ours = seconds(lambda: flip_blank.delta(fakes, threshold, epsilon), 50)
    lower, upper = peer_pair(fakes, threshold)

    def peer() -> float:
        law = pld.from_two_probability_mass_functions(lower, upper, symmetric=False)
        return law.get_delta_for_epsilon(epsilon)

    theirs = seconds(peer, 3)
    out.append(("flip-blank delta, 1e6 records", _ms(ours), ""))
    out.append(
        (
            "  dp-accounting, same laws",
            _ms(theirs),
            f"peer takes {theirs / ours:,.0f} times as long",
        )
    )
    exact = flip_blank.delta(fakes, threshold, epsilon).upper
    out.append(("  dp-accounting's delta / exact", f"{peer() / exact:.4f}", ""))
    for count in (10**6, 10**9):
        calibrate = seconds(lambda n=count: price.least_threshold(n, epsilon, target), 5)
        out.append((f"flip-blank calibration, {count:.0e} fakes", _ms(calibrate), ""))
    uniform = price.least_uniform_fakes(1000, epsilon, target)
    out.append(
        (
            "clear-uniform delta, 1000 bins",
            _ms(seconds(lambda: clear_uniform.delta(uniform, 1000, epsilon), 20)),
            "",
        )
    )
    out.append(
        (
            "clear-uniform calibration",
            _ms(seconds(lambda: price.least_uniform_fakes(1000, epsilon, target))),
            "",
        )
    )
    weights = shape_weights(*price.least_shape(epsilon, target))
    out.append(
        ("clear-shaped delta", _ms(seconds(lambda: clear_shaped.delta(weights, epsilon))), "")
    )
    out.append(
        ("clear-shaped calibration", _ms(seconds(lambda: price.least_shape(epsilon, target))), "")
    )
    return out  # fmt: skip


def _ms(value: float) -> str:
    return f"{1e3 * value:.3g} ms"

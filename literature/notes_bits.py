"""Findings of Notes 004 on lemmas and symmetries of the sum of flipped bits, by enumeration.

A crowd has n bits, of which m are set. The crowd hides one more bit, a zero or a one.
"""

import math
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from literature.finding import Finding, claim
from literature.small import FlippedBits
from mixtally.accounting.divergence import single_bit
from mixtally.lab.formulas import bit_sums
from mixtally.lab.formulas.exact_delta import threshold
from mixtally.primitives.tails import Floats

DOCUMENT = "004"
SIZES, FLIPS = (1, 2, 7, 30), (0.05, 0.2, 0.4)
PROMISES = ((1.0, 1e-6), (1.0, 1e-9), (0.5, 1e-6), (2.0, 1e-6), (0.1, 1e-6))
_NEAR, _SAME = 1e-9, 1e-12
_EVERY = "every crowd of 1, 2, 7 and 30 bits at three flip probabilities"


class BitCrowd(NamedTuple):
    """A crowd of ``bits`` bits, of which ``ones`` are set, with P(sum = 0..bits) after flips."""

    bits: int
    ones: int
    flipped: FlippedBits
    pmf: Floats

    @property
    def flip(self) -> float:
        """The flip probability."""
        return self.flipped.flip

    def mirror(self) -> "BitCrowd":
        """Return the crowd with every bit inverted."""
        return crowd(self.bits, self.bits - self.ones, self.flipped)

    def ratio(self) -> Floats:
        """Return the ratio R(s) of P(s) with one more zero to P(s) with one more one.

        The sum s runs from 0 to n + 1.
        """
        zeros = self.bits - self.ones
        pmf = self.flipped.sum_pmf
        return np.asarray(pmf(self.ones, zeros + 1) / pmf(self.ones + 1, zeros))


def crowd(bits: int, ones: int, flipped: FlippedBits) -> BitCrowd:
    """Return a crowd with the distribution of its sum."""
    return BitCrowd(bits, ones, flipped, flipped.sum_pmf(ones, bits - ones))


def crowds() -> Iterator[BitCrowd]:
    """Yield every crowd of the enumerated sizes."""
    for bits in SIZES:
        for flipped in map(FlippedBits, FLIPS):
            for ones in range(bits + 1):
                yield crowd(bits, ones, flipped)


def ratios() -> list[Finding]:
    """Return the findings on (4.5)-(4.8), lemma 4.1 and the sentence below (2.4)."""
    far, steps, rises, cases = 0.0, 0.0, 0, 0
    for one in crowds():
        ratio, q = one.ratio(), one.flip
        ends = np.concatenate(([0.0], one.pmf, [0.0]))
        here, before = ends[1:], ends[:-1]
        conditioned = ((1 - q) * here + q * before) / ((1 - q) * before + q * here)
        far = max(far, _apart(conditioned, ratio))
        stated = [bit_sums.loss_ratio(b / a, q) for a, b in pairwise(one.pmf.tolist())]
        steps = max(steps, _apart(np.array(stated), ratio[1:-1]))
        rises += int((np.diff(ratio) >= 0.0).sum())
        cases += len(ratio) - 1
    last = crowd(20, 6, FlippedBits(0.2)).ratio()
    return [
        claim(DOCUMENT, "(4.5)-(4.7)", "R(s) by what one more bit becomes: greatest relative "
              "distance from the two distributions", far < _NEAR, far, _EVERY),
        claim(DOCUMENT, "(4.8)", "R(s) from the step P(s) / P(s - 1): greatest relative distance",
              steps < _NEAR, steps, _EVERY),
        claim(DOCUMENT, "lemma 4.1", "R(s) falls as s grows: violations", rises == 0, float(rises),
              f"{cases:,} steps"),
        claim(DOCUMENT, "lemma 4.1", "R(s) is least at s = n: R(n + 1) / R(n) >= 1",
              last[-1] >= last[-2], float(last[-1] / last[-2]),
              "n = 20, m = 6, q = 0.2: with the added bit s reaches n + 1, where R is q / p"),
        _both_sides(),
    ]  # fmt: skip


def _both_sides() -> Finding:
    """Return the finding on one-sided tails of either distribution, against the two-sided tail."""
    epsilon, some = 0.3, crowd(99, 0, FlippedBits(0.3))
    zero, one = some.flipped.sum_pmf(0, 100), some.flipped.sum_pmf(1, 99)
    loss = np.log(some.ratio())
    sided = max(zero[loss > epsilon].sum(), one[loss < -epsilon].sum())
    either = max(pmf[abs(loss) > epsilon].sum() for pmf in (zero, one))
    return claim(
        DOCUMENT,
        "below (2.4), (4.3)",
        "one side within e^epsilon for both neighbors is both sides: two-sided / one-sided tail",
        bool(either <= sided * (1 + _NEAR)),
        float(either / sided),
        "100 zeros, q = 0.3, epsilon = 0.3; it can be 1 + e^-epsilon at most",
    )


def _apart(found: Floats, true: Floats) -> float:
    """Return the greatest relative distance; 0 between empty arrays."""
    return float(np.abs(found / true - 1.0).max(initial=0.0))


def symmetries() -> list[Finding]:
    """Return the findings on corollaries 4.3 to 4.5 and their use in proposition 4.5."""
    ends = mirror = turned = printed = 0.0
    for one in crowds():
        other = one.mirror()
        distance = _apart(other.pmf[::-1], one.pmf)
        mirror = max(mirror, distance)
        ends = max(ends, distance if one.ones == 0 else 0.0)
        ratio, back = one.ratio(), other.ratio()
        turned = max(turned, _apart(1.0 / back[::-1], ratio))
        printed = max(printed, _apart(1.0 / back[-2::-1], ratio[:-1]))
    return [
        claim(DOCUMENT, "corollary 4.3", "n zeros and n ones mirror each other: greatest relative "
              "distance", ends < _NEAR, ends, _EVERY),
        claim(DOCUMENT, "corollary 4.4", "m ones and n - m ones mirror each other: greatest "
              "relative distance", mirror < _NEAR, mirror, _EVERY),
        claim(DOCUMENT, "proof of 4.5", "R(i) of zeros is 1 / R(n - i) of ones: greatest relative "
              "distance", printed < _NEAR, printed,
              f"the mirror of n + 1 bits is n + 1 - i: with it {turned:.2g}"),
        *_right_deviations(),
    ]  # fmt: skip


def _right_deviations() -> list[Finding]:
    """Return the findings on corollary 4.5, in the range of the appendix and as printed."""
    found = []
    for reading, least in (
        ("from l > sqrt(npq) + 1", lambda spread: math.sqrt(spread) + 1.0 + _NEAR),
        ("from l >= npq, as printed", lambda spread: spread),
    ):
        wrong, cases = right_deviations(least)
        found.append(
            claim(
                DOCUMENT,
                "corollary 4.5",
                f"ones bound 1 / R of every crowd {reading}: violations",
                wrong == 0,
                float(wrong),
                f"{cases:,} cases by enumeration",
            )
        )
    return found


def right_deviations(least: Callable[[float], float], margin: float = 2.0) -> tuple[int, int]:
    """Return violations and cases of 1/R(mu_m + l | m) <= 1/R(mu_n + l + margin | n).

    The cases have l >= least(npq).
    """
    wrong = cases = 0
    for bits in SIZES:
        for flip in FLIPS:
            flipped = FlippedBits(flip)
            every = [crowd(bits, ones, flipped) for ones in range(bits + 1)]
            inverse = [1.0 / one.ratio() for one in every]
            distance = least(bits * flip * (1.0 - flip))
            while (bound := math.floor(bits * (1 - flip) + distance + margin)) <= bits + 1:
                for one, loss in zip(every, inverse, strict=True):
                    mean = bits * flip + one.ones * (1.0 - 2.0 * flip)
                    wrong += loss[math.floor(mean + distance)] > inverse[-1][bound] * (1 + _SAME)
                    cases += 1
                distance += 0.25
    return int(wrong), cases


def zeros() -> list[Finding]:
    """Return the findings on lemma 4.3 in crowds of zeros."""
    users = 10**6
    kept = []
    for epsilon, delta in PROMISES:
        flip = bit_sums.zeros(epsilon, delta, users)
        exact = single_bit.delta(users, 0, threshold(flip), epsilon, 0)
        kept.append(exact.upper / delta)
    few = bit_sums.zeros(0.5, 1e-6, 300)
    left = single_bit.delta(300, 0, threshold(few), 0.5, 0)
    required = bit_sums.zeros_cover(1.0, 1e-6)
    return [
        Finding(DOCUMENT, "(4.36)", "flips asked, n q at (1, 1e-6)", None, required, "flips",
                "among zeros; (4.48) adds the rest for any crowd"),
        claim(DOCUMENT, "lemma 4.3", "the promise is kept among zeros: delta / promise, largest",
              max(kept) <= 1.0, max(kept), f"n = {users:,}, five promises"),
        claim(DOCUMENT, "lemma 4.3", "q stays below 1/2, n = 300, epsilon = 0.5: q asked",
              few < 0.5, few, f"it leaves a delta of {left.upper:.3g} where 1e-6 is promised"),
    ]  # fmt: skip


def recurrences() -> list[Finding]:
    """Return the findings on lemma 7.1, (7.3), (7.4) and two properties without proof."""
    far, steps, rises, falls, cases = 0.0, 0.0, 0, 0, 0
    last: Floats | None = None
    for one in crowds():
        pmf, n, m, q = one.pmf.tolist(), one.bits, one.ones, one.flip
        for s in range(n):
            before, step = (pmf[s - 1], pmf[s] / pmf[s - 1]) if s else (0.0, math.inf)
            stated = bit_sums.next_chance(pmf[s], before, s, n, m, q)
            far = max(far, abs(stated / pmf[s + 1] - 1.0))
            following = bit_sums.next_step(step, s, n, m, q)
            steps = max(steps, abs(following * pmf[s] / pmf[s + 1] - 1.0))
        rho = one.pmf[1:] / one.pmf[:-1]
        rises += int((np.diff(rho) >= 0.0).sum())
        if m and last is not None:
            falls += int((rho < last * (1 - _SAME)).sum())
        last, cases = rho, cases + n
    return [
        claim(DOCUMENT, "lemma 7.1, (7.3)", "P(s + 1) from P(s) and P(s - 1): greatest relative "
              "distance", far < _NEAR, far, f"{cases:,} cases by enumeration"),
        claim(DOCUMENT, "(7.4)", "the next step from the last one: greatest relative distance",
              steps < _NEAR, steps, "with gamma by the mean, as below (7.4)"),
        claim(DOCUMENT, "section 7.2", "the step falls with s: violations", rises == 0,
              float(rises), "left to do in the document"),
        claim(DOCUMENT, "section 7.2", "the step grows with m: violations", falls == 0,
              float(falls), "left to do in the document"),
    ]  # fmt: skip

"""Everything of ours that draws noise passes its audit, and a planted bug of every kind does not.

Sixty audits at 1e-4 each: together they fail by chance with probability at most 0.006.
"""

import numpy as np
import pytest
from msgspec.structs import replace

from attacks.conftest import blanks_instead, last_bit_in_clear, modulo
from attacks.releases import (
    AUDITS,
    MEMOIZED,
    SMALL,
    clear_audit,
    failures,
    flip_audit,
    memoized_audit,
    name_of,
    one_audit,
)
from mixtally.attacks.device import Device
from mixtally.ground.flips import SKIP_BELOW
from mixtally.mixing import shaped_fakes
from mixtally.randomize import fakes, memoized, one_report, reports
from mixtally.records.mechanism import BitFlips, protocols
from mixtally.records.mechanism.fakes import ratio_of
from mixtally.records.mechanism.named import clear_shaped, clear_uniform


def test_every_protocol_of_the_catalogue_is_audited():
    assert {p.name for _, _, p in AUDITS} == set(protocols())
    rates = {p.threshold < SKIP_BELOW for _, _, p in AUDITS if isinstance(p, BitFlips)}
    assert rates == {True, False}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("audit", "mechanism"), [a[1:] for a in AUDITS], ids=[a[0] for a in AUDITS]
)
def test_a_release_draws_the_noise_it_pays_for(audit, mechanism):
    assert failures(audit(mechanism, Device())) == []


@pytest.mark.parametrize("mechanism", SMALL, ids=name_of)
def test_one_device_draws_the_noise_it_pays_for(mechanism):
    assert failures(one_audit(mechanism, Device(), people=5000)) == []


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", MEMOIZED, ids=lambda m: f"{m.bins} bits, f = {m.f:.3g}")
def test_memoized_answers_draw_the_noise_they_pay_for(mechanism):
    assert failures(memoized_audit(mechanism)) == []


def a_percent_less(mechanism, records, chance):
    return reports(replace(mechanism, threshold=mechanism.threshold * 97 // 100), records, chance)


def one_repeat_copied(mechanism, records, chance):
    """Noise drawn once for a person, not for each message."""
    once = reports(replace(mechanism, repeats=1), records, chance)
    return np.repeat(once, mechanism.repeats, axis=0)


def two_bits_alike(mechanism, count, chance):
    """Position 2 repeats position 17, each with the right rate."""
    rows = fakes(mechanism, count, chance)
    rows[:, 0] = (rows[:, 0] & np.uint8(0xFB)) | ((rows[:, 2] >> 1 & 1) << 2)
    return rows


def every_64th_alike(mechanism, count, chance):
    """Noise that starts over after 64 messages."""
    rows = fakes(mechanism, min(64, count), chance)
    return np.resize(rows, (count, rows.shape[1])).copy()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "broken"),
    [
        (0, Device(reports=last_bit_in_clear)), (1, Device(reports=last_bit_in_clear)),
        (2, Device(reports=a_percent_less)), (3, Device(reports=one_repeat_copied)),
        (4, Device(reports=last_bit_in_clear)), (0, Device(fakes=two_bits_alike)),
        (2, Device(fakes=every_64th_alike)), (5, Device(fakes=blanks_instead)),
    ],
)  # fmt: skip
def test_planted_bugs_of_flips_are_found(place, broken):
    mechanism = AUDITS[place][2]
    assert failures(flip_audit(mechanism, Device())) == []
    assert failures(flip_audit(mechanism, broken))


def never_twice(mechanism, count, chance):
    """Two fakes in a row are never alike, each of them uniform."""
    codes = mechanism.layout.codes(fakes(mechanism, count, chance))
    codes[1::2] = (codes[0::2] + 1) % mechanism.bins
    return mechanism.layout.rows(codes)


def test_planted_bugs_in_clear_are_found():
    assert failures(clear_audit(clear_uniform(bins=105, fakes=9), Device(fakes=modulo)))
    assert failures(clear_audit(clear_uniform(bins=9, fakes=9), Device(fakes=never_twice)))
    shaped = clear_shaped(bins=7, ratio=ratio_of(0.5), shift=20)
    wide = clear_shaped(bins=7, ratio=ratio_of(0.52), shift=20).fakes.weights

    def wrong(_, layout, chance):
        return shaped_fakes(wide, layout, chance)

    assert failures(clear_audit(shaped, Device(shaped=wrong)))
    assert failures(clear_audit(shaped, Device(shaped=shaped_fakes))) == []


class Forgetful:
    """Memoized answers that show p and q the wrong way round, or keep one bit as it is."""

    def __init__(self, swapped):
        self.swapped = swapped

    def permanent_response(self, mechanism, records, chance):
        kept = memoized.permanent_response(mechanism, records, chance)
        if not self.swapped:
            kept[:, 0] = (kept[:, 0] & np.uint8(0xFE)) | (records[:, 0] & np.uint8(1))
        return kept

    def report(self, mechanism, kept, chance):
        return memoized.report(mechanism, ~kept if self.swapped else kept, chance)


@pytest.mark.parametrize("swapped", [True, False])
def test_planted_bugs_of_memoized_answers_are_found(swapped):
    assert failures(memoized_audit(MEMOIZED[0], Forgetful(swapped)))


@pytest.mark.seconds
def test_planted_bugs_of_one_device_are_found():
    def early(mechanism, code, chance):
        return one_report(mechanism, max(0, code - 1), chance)

    for mechanism in SMALL[:2] + SMALL[3:]:
        assert failures(one_audit(mechanism, Device(one_report=early), people=5000))

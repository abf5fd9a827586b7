"""Everything of ours that draws noise passes its audit, and a planted bug of every kind does not.

Sixty audits at 1e-4 each: together they fail by chance with probability at most 0.006.
"""

import numpy as np
import pytest
from msgspec.structs import replace

from attacks import releases
from attacks.conftest import blanks_instead, last_bit_in_clear, modulo
from attacks.mechanisms import part as sent_by
from attacks.releases import (
    AUDITS,
    MEMOIZED,
    SMALL,
    clear_audit,
    failures,
    flip_audit,
    memoized_audit,
    name_of,
)
from helpers.named import clear_shaped, clear_uniform
from mixtally.device.client import draw
from mixtally.lab.attacks.device import Device
from mixtally.lab.attacks.single_records import single_person_device, single_record_checks
from mixtally.model.contract import LaplaceShape
from mixtally.model.shape import ratio_of
from mixtally.primitives.flips import SKIP_BELOW
from mixtally.protocol.mixing import draw_recipe_messages
from mixtally.protocol.randomize import draw_part_fakes, memoized, randomize_records


def test_every_protocol_of_the_catalogue_is_audited(protocols):
    assert {p.protocol for _, _, p in AUDITS} == protocols
    rates = {p.threshold < SKIP_BELOW for _, _, p in AUDITS if p.threshold}
    assert rates == {True, False}


@pytest.mark.slow
@pytest.mark.parametrize(("audit", "part"), [a[1:] for a in AUDITS], ids=[a[0] for a in AUDITS])
def test_a_release_draws_the_noise_it_pays_for(audit, part):
    assert failures(audit(part, Device())) == []


@pytest.mark.seconds
@pytest.mark.parametrize("part", SMALL, ids=name_of)
def test_one_device_draws_the_noise_it_pays_for(part, lab):
    checks, sent = single_record_checks("", part, lab())
    assert failures(checks) == []
    assert sent > 8_000


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", MEMOIZED, ids=lambda m: f"{m.bins} bits, f = {m.f:.3g}")
def test_memoized_answers_draw_the_noise_they_pay_for(mechanism):
    assert failures(memoized_audit(mechanism)) == []


def a_percent_less(part, records, chance):
    return randomize_records(replace(part, threshold=part.threshold * 97 // 100), records, chance)


def one_repeat_copied(part, records, chance):
    """Noise drawn once for a person, not for each message."""
    once = randomize_records(replace(part, repeats=1), records, chance)
    return np.repeat(once, part.repeats, axis=0)


def two_bits_alike(part, people, chance):
    """Position 2 repeats position 17, each with the right rate."""
    rows, number = draw_part_fakes(part, people, chance)
    rows[:, 0] = (rows[:, 0] & np.uint8(0xFB)) | ((rows[:, 2] >> 1 & 1) << 2)
    return rows, number


def every_64th_alike(part, people, chance):
    """Noise that starts over after 64 messages."""
    rows, _ = draw_part_fakes(part, min(64, people), chance)
    return np.resize(rows, (people, rows.shape[1])).copy(), people


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "broken"),
    [
        (0, Device(reports=last_bit_in_clear)), (1, Device(reports=last_bit_in_clear)),
        (2, Device(reports=a_percent_less)), (3, Device(reports=one_repeat_copied)),
        (4, Device(reports=last_bit_in_clear)), (0, Device(fakes=two_bits_alike)),
        (1, Device(fakes=every_64th_alike)), (5, Device(fakes=blanks_instead)),
    ],
)  # fmt: skip
def test_planted_bugs_of_flips_are_found(place, broken):
    part = AUDITS[place][2]
    assert failures(flip_audit(part, Device())) == []
    assert failures(flip_audit(part, broken))


def never_twice(part, people, chance):
    """Two fakes in a row are never alike, each of them uniform."""
    rows, number = draw_part_fakes(part, people, chance)
    codes = part.layout.codes(rows)
    codes[1::2] = (codes[0::2] + 1) % part.bins
    return part.layout.rows(codes), number


def test_planted_bugs_in_clear_are_found():
    few = sent_by(clear_uniform(bins=9, fakes=9))
    assert failures(clear_audit(sent_by(clear_uniform(bins=105, fakes=9)), Device(fakes=modulo)))
    assert failures(clear_audit(few, Device(fakes=never_twice)))
    shaped = sent_by(clear_shaped(bins=7, ratio=ratio_of(0.5), shift=20))

    def wrong(_, layout, chance):
        return draw_recipe_messages(LaplaceShape(ratio_of(0.52), 20), layout, chance)

    assert failures(clear_audit(shaped, Device(added=wrong)))
    assert failures(clear_audit(shaped, Device())) == []


class Forgetful:
    """Memoized answers that show p and q the wrong way round, or keep one bit as it is."""

    def __init__(self, swapped):
        self.swapped = swapped

    def draw_permanent_response(self, mechanism, records, chance):
        kept = memoized.draw_permanent_response(mechanism, records, chance)
        if not self.swapped:
            kept[:, 0] = (kept[:, 0] & np.uint8(0xFE)) | (records[:, 0] & np.uint8(1))
        return kept

    def draw_reports(self, mechanism, kept, chance):
        return memoized.draw_reports(mechanism, ~kept if self.swapped else kept, chance)


@pytest.mark.parametrize("swapped", [True, False])
def test_planted_bugs_of_memoized_answers_are_found(swapped):
    assert failures(memoized_audit(MEMOIZED[0], Forgetful(swapped)))


def early(part, bins, words):
    """The mapper of one person's code counts from one."""
    return draw.draw_message(part, [max(0, place - 1) for place in bins], words)


def no_last_bit(part, words):
    """The last bit of a fake is never set."""
    fake = bytearray(draw.draw_fake(part, words))
    last = part.bins - 1
    fake[last >> 3] &= ~(1 << (last & 7)) & 0xFF
    return bytes(fake)


def tails_alone(parts, _words):
    return [0] * len(parts)


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("place", "broken"),
    [(place, {"message": early}) for place in (0, 1, 3, 4)]
    + [(0, {"fake": no_last_bit}), (2, {"coins": tails_alone})],
)
def test_planted_bugs_of_one_device_are_found(place, broken, lab):
    checks, _ = single_record_checks("", SMALL[place], lab(device=Device(**broken)))
    assert failures(checks)


@pytest.mark.slow
@pytest.mark.parametrize("part", SMALL, ids=name_of)
def test_one_persons_code_passes_the_audit_of_a_release(part, monkeypatch):
    monkeypatch.setattr(releases, "PEOPLE", 20_000)
    audit = clear_audit if part.threshold is None else flip_audit
    assert failures(audit(part, single_person_device(Device()))) == []

"""Three accidents that happened to others, and some that might: the audit of the randomizer finds
each with fewer than 1e5 simulated reports, and leaves sound devices alone.

Where nothing is planted a failure has the stated chance of a false alarm, 1e-4 a run.
"""

import dataclasses

import numpy as np
import pytest
from msgspec.structs import replace
from scipy import stats

from attacks.conftest import (
    ERROR,
    blanks_instead,
    flipping_with,
    last_bit_in_clear,
    modulo,
    off_by_one,
)
from attacks.mechanisms import part, target
from helpers.named import clear_shaped, clear_uniform, flip_blank, flip_uniform
from mixtally.lab.attacks import Verdict, outsiders, randomizer
from mixtally.lab.attacks.audit import Checks, find_failures
from mixtally.lab.attacks.device import Device
from mixtally.model.contract import LaplaceShape
from mixtally.model.layout import Form, Layout
from mixtally.model.shape import ratio_of
from mixtally.primitives.fixed_point import threshold_of
from mixtally.protocol.mixing import draw_recipe_messages
from mixtally.protocol.randomize import draw_part_fakes, randomize_records

MOST_REPORTS = 100_000
NAMES = (
    "flip-blank", "flip-blank, rare", "flip-blank, crowd", "flip-blank, two bins",
    "flip-blank, sets", "flip-uniform", "clear-uniform", "clear-shaped", "clear-shaped, two mixes",
    "single-bit", "flip", "flip, repeats",
)  # fmt: skip


def local_flip(epsilon):
    """The flip probability that keeps epsilon without any mix, as a threshold."""
    return threshold_of(1.0 / (1.0 + np.exp(epsilon / 2.0)))


def audited(mechanism, lab, **device):
    (found,) = randomizer.run(target(mechanism), lab(device=Device(**device)))
    assert found.runs < MOST_REPORTS
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_sound_device_passes(name, sound, lab):
    found = audited(sound[name], lab)
    assert found.verdict is Verdict.CONSISTENT, found.numbers["flags"]
    assert found.attacked >= ERROR


@pytest.mark.parametrize("q", [0.3, 0.02, 4e-5])
@pytest.mark.parametrize("bins", [2, 8, 13, 400])
def test_accident_one_the_last_bit_is_never_randomized(bins, q, lab):
    """Also where the plan flips too rarely to see it: the probes do."""
    mechanism = flip_blank(bins=bins, fakes=1000, threshold=threshold_of(q))
    found = audited(mechanism, lab, reports=last_bit_in_clear)
    assert found.verdict is Verdict.VIOLATED
    assert {flag["place"] for flag in found.numbers["flags"] if "that is" in flag["test"]} == {
        bins - 1
    }


@pytest.mark.parametrize("bins", [2, 50, 1000])
def test_accident_two_epsilon_a_tenth_is_drawn_as_eleven_tenths(bins, lab):
    asked, drawn = local_flip(0.1), local_flip(1.1)
    mechanism = flip_blank(bins=bins, fakes=0, threshold=asked, crowd=1000)
    assert audited(mechanism, lab, reports=flipping_with(drawn)).verdict is Verdict.VIOLATED


@pytest.mark.parametrize("bins", [2, 105, 5000])
def test_accident_three_the_mapper_is_off_by_one(bins, lab):
    for mechanism in (
        flip_blank(bins=bins, fakes=1000, threshold=threshold_of(0.2)),
        clear_uniform(bins=bins, fakes=1000),
        clear_shaped(bins=bins, ratio=ratio_of(0.5), shift=5),
    ):
        assert audited(mechanism, lab, reports=off_by_one).verdict is Verdict.VIOLATED


def test_accident_two_is_also_seen_as_a_broken_promise(lab):
    """Without mixes: epsilon 0.1 is promised, more is proved from fewer than 1e5 reports."""
    asked, drawn = local_flip(0.1), local_flip(1.1)
    mechanism = flip_blank(bins=10, fakes=0, threshold=asked, crowd=1000)
    assert mechanism.local_epsilon == pytest.approx(0.1)
    for device, verdict in (
        (Device(), Verdict.CONSISTENT),
        (Device(reports=flipping_with(drawn)), Verdict.VIOLATED),
    ):
        found = outsiders.all_mixes_collude(
            target(mechanism, epsilon=0.1), lab(runs=20_000, device=device)
        )
        assert found.verdict is verdict
        assert 2 * found.runs < MOST_REPORTS
        assert found.attacked <= 1.1


def test_accident_one_is_also_seen_as_a_broken_promise(lab):
    """A bit that is never flipped tells the person who holds it from the one who does not."""
    mechanism = flip_blank(bins=10, fakes=300, threshold=threshold_of(0.25))
    for device, broken in ((Device(), False), (Device(reports=last_bit_in_clear), True)):
        found = outsiders.all_mixes_collude(target(mechanism), lab(runs=20_000, device=device))
        assert (found.verdict is Verdict.VIOLATED) == broken, found


def one_bin_only(part, people, chance):
    """Fakes that all set the first bit before they are flipped."""
    number = draw_part_fakes(part, people, chance)[1]
    return randomize_records(part, np.zeros(number, dtype=np.int64), chance), number


@pytest.mark.parametrize("device", [blanks_instead, one_bin_only])
@pytest.mark.parametrize("bins", [2, 40, 3000])
def test_uniform_fakes_that_are_not_uniform_are_found(bins, device, lab):
    mechanism = flip_uniform(bins=bins, fakes=900, threshold=threshold_of(0.02))
    assert audited(mechanism, lab).verdict is Verdict.CONSISTENT
    assert audited(mechanism, lab, fakes=device).verdict is Verdict.VIOLATED


def repeated_noise(part, people, chance):
    """The same noise for every two messages."""
    rows, number = draw_part_fakes(part, people, chance)
    rows[1::2] = rows[: len(rows) // 2 * 2 : 2]
    return rows, number


def smeared(part, people, chance):
    """A flip of one bit that always takes its neighbor along, at half the rate."""
    half = replace(part, threshold=part.threshold // 2)
    even = draw_part_fakes(half, people, chance)[0] & np.uint8(0x55)
    odd = draw_part_fakes(half, people, chance)[0] & np.uint8(0xAA)
    return even | (even << 1) | odd | (odd >> 1), len(even)


@pytest.mark.parametrize("broken", [repeated_noise, smeared])
def test_noise_that_depends_on_other_noise_is_seen(broken, lab):
    mechanism = flip_blank(bins=16, fakes=1000, threshold=threshold_of(0.3))
    found = audited(mechanism, lab, fakes=broken)
    assert found.verdict is Verdict.VIOLATED


def never_last(part, people, chance):
    last = part.bins - 1
    fewer = replace(part, bins=last, layout=replace_bins(part.layout, last))
    rows, number = draw_part_fakes(fewer, people, chance)
    return part.layout.rows(fewer.layout.codes(rows)), number


@pytest.mark.parametrize("broken", [modulo, never_last])
def test_fakes_in_clear_that_are_not_uniform_are_seen(broken, lab):
    mechanism = clear_uniform(bins=100, fakes=1000)
    assert audited(mechanism, lab, fakes=broken).verdict is Verdict.VIOLATED


def same_everywhere(recipe, layout, chance):
    """One draw for all bins."""
    one = len(draw_recipe_messages(recipe, replace_bins(layout, 1), chance))
    return layout.rows(np.repeat(np.arange(layout.bins), one))


def narrower(recipe, layout, chance):
    """A mix that draws less noise than it should."""
    return draw_recipe_messages(LaplaceShape(ratio_of(0.7), recipe.shift), layout, chance)


def replace_bins(layout, bins):
    return Layout(layout.form, bins)


@pytest.mark.parametrize("broken", [same_everywhere, narrower])
def test_shaped_fakes_of_another_distribution_are_seen(broken, lab):
    mechanism = clear_shaped(bins=40, ratio=ratio_of(0.5), shift=20)
    assert audited(mechanism, lab, added=broken).verdict is Verdict.VIOLATED


@pytest.mark.parametrize(
    "broken",
    [
        lambda batch, _: batch,
        lambda batch, chance: np.roll(batch, int(chance.words(1)[0] % np.uint64(64)), axis=0),
    ],
    ids=["none", "rotation"],
)
def test_a_shuffle_that_keeps_order_is_seen(broken, lab):
    found = audited(clear_uniform(bins=10, fakes=1000), lab, shuffle=broken)
    assert found.verdict is Verdict.VIOLATED


def without_cap(part, records, chance):
    """Draws that name more bins than the cap are sent as they are."""
    free = replace(part, layout=Layout(Form.BITS, part.bins))
    return randomize_records(free, records, chance)


def test_a_device_that_ignores_its_cap_is_seen(lab):
    capped = replace(
        part(flip_blank(bins=200, fakes=900, threshold=threshold_of(0.02))),
        layout=Layout(Form.BITS, 200, cap=20),
    )
    plan = dataclasses.replace(
        target(flip_blank(bins=2, fakes=9, threshold=1 << 60)), parts=(capped,)
    )
    for parts, verdict in (({}, Verdict.CONSISTENT), ({"reports": without_cap}, Verdict.VIOLATED)):
        (found,) = randomizer.run(plan, lab(device=Device(**parts)))
        assert found.verdict is verdict
    assert [flag["test"] for flag in found.numbers["flags"]] == [
        "message with more ones than its cap"
    ]


def test_p_values_are_exact():
    checks = Checks.of("coins", [0, 3, 10, 20], 20, 0.3)
    for hits, value in zip([0, 3, 10, 20], checks.p_values(), strict=True):
        below, above = stats.binom.cdf(hits, 20, 0.3), stats.binom.sf(hits - 1, 20, 0.3)
        assert value == pytest.approx(min(1.0, 2.0 * min(below, above)), rel=1e-9)


def test_what_must_never_happen_and_what_must_always():
    assert Checks.of("never", [0, 1], 5, 0.0).p_values().tolist() == [1.0, 0.0]
    assert Checks.of("always", [5, 4], 5, 1.0).p_values().tolist() == [1.0, 0.0]
    assert Checks.of("nothing drawn", 0, 0, 0.5).p_values().tolist() == [1.0]


def test_flags_share_the_rate():
    groups = [Checks.of("one", [0], 20, 0.3), Checks.of("many", [6] * 999, 20, 0.3)]
    p = float(groups[0].p_values()[0])
    assert find_failures(groups, 1000 * p * 1.01)[0][0].test == "one"
    assert find_failures(groups, 1000 * p * 0.99)[0] == []


SEEDS, OFTEN, MOST_ALARMS = 15, 0.05, 25


def alarms(sound, lab, seeds, **device):
    """How many audits of all protocols, each with noise of its own, are flagged at ``OFTEN``."""
    return sum(
        randomizer.run(
            target(mechanism), lab(seed=1000 + 100 * seed + place, error=OFTEN, **device)
        )[0].verdict
        is not Verdict.CONSISTENT
        for place, mechanism in enumerate(sound.values())
        for seed in range(seeds)
    )


@pytest.mark.slow
def test_sound_protocols_are_flagged_no_more_often_than_stated(sound, lab):
    """At most 0.05 of 180 audits: above 25 has a chance of 5e-6."""
    assert alarms(sound, lab, SEEDS) <= MOST_ALARMS


@pytest.mark.slow
def test_three_percent_more_flips_would_be_flagged(sound, lab):
    """The twin, by a quarter of the runs: nine protocols flip."""

    def often(part, records, chance):
        more = (
            part if part.threshold is None else replace(part, threshold=part.threshold * 103 // 100)
        )
        return randomize_records(more, records, chance)

    assert alarms(sound, lab, 4, device=Device(reports=often)) > MOST_ALARMS


@pytest.mark.slow
@pytest.mark.parametrize("bins", [2, 3, 7, 8, 9, 64, 65, 105, 1000])
def test_every_bit_position_of_every_protocol_at_high_power(bins, lab, monkeypatch):
    """An audit of a release: two million reports and fakes of every protocol and message width,
    400,000 of a thousand bits.

    Seventy audits at 1e-4 fail by chance with probability at most 0.007.
    """
    monkeypatch.setattr(randomizer, "MOST_REPORTS", 2_000_000)
    monkeypatch.setattr(randomizer, "_BIT_BUDGET", 400_000_000)
    mechanisms = [
        flip_blank(bins=bins, fakes=1000, threshold=threshold_of(q))
        for q in (0.49, 0.11, 0.0101, 0.0099, 2.0**-12)
    ]
    mechanisms += [
        clear_uniform(bins=bins, fakes=1000),
        clear_shaped(bins=bins, ratio=ratio_of(0.5), shift=27),
    ]
    for mechanism in mechanisms:
        (found,) = randomizer.run(target(mechanism), lab(seed=bins))
        assert found.verdict is Verdict.CONSISTENT, (mechanism, found.numbers["flags"])

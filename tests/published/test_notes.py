"""Notes 004: every number that is known of its formulas, and the slips it prints."""

import math

import pytest

from mixtally.accounting.divergence import single_bit
from mixtally.errors import ParameterError
from mixtally.lab.formulas import notes
from mixtally.primitives.fixed_point import threshold_of
from published.printed import as_printed

DELTA = 1e-6
COVERS = [
    (1.0, 1e-6, "213.6"),
    (1.0, 1e-9, "310.6"),
    (0.5, 1e-6, "760"),
    (2.0, 1e-6, "78.6"),
    (0.1, 1e-6, "18273"),
]


def reproduces():
    users = 10**6
    q = notes.single_bit(1.0, DELTA, users)
    return (
        all(as_printed(notes.one_hot_cover(e, d), printed) for e, d, printed in COVERS)
        and as_printed(notes.clear_uniform(1.0, DELTA, 100), "21356")
        and as_printed(users * q, "115")
        and as_printed(q, "1.15e-4")
        and as_printed(notes.single_bit_error(1.0, DELTA, q), "10.7")
        and as_printed(notes.flip_cover(1.0, DELTA), "304.74")
        and as_printed(notes.tail_as_printed(1.0, 999, 0.03), "2.2e-3")
        and as_printed(notes.tail(1.0, 999, 0.03), "1.37e-6")
    )


def test_every_printed_number_is_reproduced():
    assert reproduces()


@pytest.mark.parametrize(("epsilon", "delta", "printed"), COVERS)
def test_the_cover_is_the_formula_written_out(epsilon, delta, printed):
    grow = math.exp(epsilon)
    cover = 3 * math.log(4 / delta) * ((grow + 1) / (grow - 1)) ** 2
    assert notes.one_hot_cover(epsilon, delta) == pytest.approx(cover, rel=1e-12)
    assert notes.flip_blank(epsilon, delta, 10**7) * 10**7 == pytest.approx(cover, rel=1e-12)
    assert as_printed(cover, printed)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_flips_are_priced_as_single_bits_at_half_the_promise(epsilon):
    halved = notes.single_bit_cover(epsilon / 2, DELTA / 2)
    assert notes.flip_cover(epsilon, DELTA) == pytest.approx(halved, rel=1e-12)
    assert notes.flip(epsilon, DELTA, 700, 300) == pytest.approx(halved / 1000, rel=1e-12)


def test_the_printed_error_of_a_bit_lacks_a_square_root():
    q = notes.single_bit(1.0, DELTA, 10**6)
    printed, meant = (
        notes.single_bit_error_as_printed(1.0, DELTA, q),
        notes.single_bit_error(1.0, DELTA, q),
    )
    assert as_printed(printed, "115")
    assert as_printed(meant, "10.7")
    assert meant == pytest.approx(math.sqrt(10**6 * q * (1 - q)) / (1 - 2 * q), rel=1e-12)


def test_the_tail_before_the_slip_is_the_exact_delta_of_a_crowd_of_zeros():
    exact = single_bit.delta(1000, 0, threshold_of(0.03), 1.0, ones=0, count_crowd=True)
    assert exact.lower * 0.999999 <= notes.tail(1.0, 999, 0.03) <= exact.upper * 1.000001
    assert notes.tail_as_printed(1.0, 999, 0.03) > 1000 * exact.upper


def test_fake_zeros_count_like_people():
    assert notes.single_bit(1.0, DELTA, 600, 400) == notes.single_bit(1.0, DELTA, 1000)


def test_the_error_of_a_share_is_that_of_its_parts():
    users, fakes, bins = 10**5, 10**5, 1000
    q = notes.flip(1.0, DELTA, users, fakes)
    variance = (users + fakes) * q * (1 - q) / (1 - 2 * q) ** 2 + fakes / bins * (1 - 1 / bins)
    error = notes.flip_share_error(1.0, DELTA, users, fakes, bins)
    assert error == pytest.approx(math.sqrt(variance) / users, rel=1e-12)


@pytest.mark.parametrize(
    ("call", "subject"),
    [
        (lambda: notes.single_bit(0.0, DELTA, 10), "epsilon"),
        (lambda: notes.single_bit(math.nan, DELTA, 10), "epsilon"),
        (lambda: notes.single_bit(1.0, 1.0, 10), "delta"),
        (lambda: notes.single_bit(1.0, DELTA, 0), "users"),
        (lambda: notes.flip_blank(1.0, DELTA, 0), "fakes"),
        (lambda: notes.clear_uniform(1.0, DELTA, 1), "bins"),
        (lambda: notes.tail(1.0, 10, 0.5), "flip probability"),
        (lambda: notes.flip_share_error(1.0, DELTA, 300, 0, 10), "flip probability"),
    ],
)
def test_outside_its_range_a_formula_is_refused(call, subject):
    with pytest.raises(ParameterError, match=rf"^{subject}: expected .*, got .*\. "):
        call()

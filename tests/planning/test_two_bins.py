"""A question of two bins errs as a question of one bit does: both have the same exact law."""

import pytest

from helpers.sampled import rows
from mixtally.accounting.divergence import kary_response
from mixtally.planning import choose
from planning.requests import BIT, request

WITHIN = 0.01
REQUESTS = [  # epsilon, delta, people, collections
    (0.1, 1e-6, 10**4, 1),
    (1.0, 1e-6, 10**4, 1),
    (0.1, 1e-6, 10**6, 1),
    (0.5, 1e-9, 10**5, 1),
    (2.0, 1e-6, 10**3, 1),
    (1.0, 1e-6, 300, 1),
    (0.05, 1e-6, 10**5, 1),
    (1.0, 1e-6, 10**4, 12),
    (0.3, 1e-6, 10**5, 52),
    (4.0, 1e-3, 100, 1),
    (1.0, 1e-8, 10**7, 1),
    (0.02, 1e-6, 10**6, 1),
    (0.7, 1e-5, 2000, 2),
    (8.0, 1e-9, 50, 1),
    (0.2, 1e-10, 50_000, 4),
    (1.5, 1e-6, 800, 1),
    (0.1, 1e-3, 3000, 1),
    (3.0, 1e-6, 400, 6),
    (0.01, 1e-6, 10**7, 1),
    (1.0, 1e-6, 10**8, 1),
]


def errors(epsilon, delta, users, collections):
    """Return the error of two bins and of one bit, sent as one message."""
    asked = {"epsilon": epsilon, "delta": delta, "users": users, "collections": collections}
    bins, bit = (
        choose(request(messages_per_user=1, **kind, **asked)).plan
        for kind in ({"bins": 2}, {"question": BIT})
    )
    assert bins.certificate.upper <= delta
    return bins.standard_error, bit.standard_error


@pytest.mark.parametrize(("epsilon", "delta", "users", "collections"), rows(REQUESTS, 5))
def test_two_bins_err_as_one_bit(epsilon, delta, users, collections):
    bins, bit = errors(epsilon, delta, users, collections)
    assert bins == pytest.approx(bit, rel=WITHIN)


def test_the_bound_of_many_bins_would_be_noticed(monkeypatch):
    """The twin: with the bound of more than two bins it erred up to 1.35 times as much."""
    monkeypatch.setattr(kary_response, "_has_two_outputs", lambda _: False)
    bins, bit = errors(*REQUESTS[0])
    assert bins > 1.2 * bit

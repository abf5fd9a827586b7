"""Requests whose limit of bytes cannot be met are refused before any noise is searched for."""

import pytest

from mixtally.accounting import calibrate
from mixtally.errors import InfeasibleError
from mixtally.model.question import Kind, Question
from mixtally.planning import choose
from mixtally.planning.options import Candidate
from planning.requests import request

BASKET = Question(name="basket", bins=405_100, kind=Kind.SET, max_set=11)


def test_messages_that_are_too_large_are_refused_after_one_search(watch):
    """It took 5 of 18 CPU seconds before the nearest plans were looked for.

    The one search is that of one slot, whose message fits and whose fakes do not.
    """
    searches = watch(calibrate, "_find_least_value", 1)
    asked = request(
        question=BASKET,
        epsilon=1.9,
        delta=6.86e-9,
        users=797_400,
        collections=156,
        count_crowd=True,
        minimum_crowd=75,
        mix_fakes=True,
        bytes_per_user=80,
    )
    with pytest.raises(InfeasibleError, match="at least 1089 for its own messages"):
        choose(asked)
    assert len(searches) <= 1


@pytest.mark.parametrize(
    "kind",
    [
        {},
        {"mix_fakes": True, "bins": 10**5},
        pytest.param({"question": BASKET}, marks=pytest.mark.seconds),
    ],
)
def test_what_is_refused_at_once_has_no_plan_within_its_bytes(kind):
    """Every plan that is found without a limit sends more than what is named in a refusal."""
    free = choose(request(users=10**5, **kind))
    least = min(one.bytes_per_user for one in (free.plan, *free.others))
    with pytest.raises(InfeasibleError):
        choose(request(users=10**5, bytes_per_user=min(90.0, least / 2), **kind))
    kept = choose(request(users=10**5, bytes_per_user=least, **kind))
    assert kept.plan.bytes_per_user <= least


@pytest.mark.parametrize("messages", [1, 2])
@pytest.mark.parametrize(("epsilon", "users"), [(1.0, 10**5), (5.0, 300)])
def test_flip_blank_by_name_is_never_flip(messages, epsilon, users):
    """Without blanks, which one message has no room for, it would be another protocol."""
    asked = request(
        bins=50,
        users=users,
        epsilon=epsilon,
        protocol="flip-blank",
        count_crowd=True,
        messages_per_user=messages,
    )
    if messages == 1:
        with pytest.raises(InfeasibleError, match=r"flip-blank needs fakes"):
            choose(asked)
        return
    found = choose(asked)
    others = [one.protocol for one in found.others if isinstance(one, Candidate)]
    assert {found.plan.protocol, *others} == {"flip-blank"}

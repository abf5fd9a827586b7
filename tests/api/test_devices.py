"""From people's devices through mixes to counts, under a plan and under a contract."""

import pytest

from helpers.small_plan import FRUIT, PEOPLE, by_people, fruit_plan, mixed, sent
from mixtally.api import Device, conclude, mix, plan, simulate
from mixtally.errors import RefusedError


def test_a_conclusion_of_messages_has_no_truth():
    result = conclude(fruit_plan(), mixed())
    assert result.simulation is None
    assert result.people == PEOPLE
    again = conclude(fruit_plan(), mix(sent()[::-1], fruit_plan()))
    assert [r.estimate for r in again.rows] == [r.estimate for r in result.rows]


def test_people_and_mixes_under_a_contract():
    """Ten thousand fakes would be noticed: each estimate is within 8 standard errors.

    False alarm below 10^-13, of three binomial counts of 400 fakes.
    """
    answers = ["apple"] * 30 + ["pear"] * 15 + ["plum"] * 5
    devices = [Device(by_people(), epsilon=3, delta=0.1) for _ in answers]
    every = [d.messages(answer) for d, answer in zip(devices, answers, strict=True)]
    result = conclude(by_people(), mix(every, by_people()))
    assert result.people == 50
    off = [abs(r.estimate - true) for r, true in zip(result.rows, (30, 15, 5), strict=True)]
    assert max(off) < 8 * result.error
    assert "epsilon = 2" in devices[0].promise
    assert "epsilon = 2" in result.lines[1]


def test_the_promise_of_a_device_is_not_rounded_down():
    asked = plan([*FRUIT], epsilon=1.2345642, delta=1e-3, users=300, **DRAWN)
    said = Device(asked, epsilon=2, delta=0.1, hops=1).promise
    epsilon, delta = (float(said.split(words)[1].split(",")[0]) for words in ("= ", "<= "))
    assert epsilon >= 1.2345642
    assert delta >= asked.record.certificate.upper


def answered(asked, answers, level=0.95):
    """What devices under a plan send, mixed and counted."""
    sent = [Device(asked).messages(answer) for answer in answers]
    return conclude(asked, mix(sent, asked), level=level)


DRAWN = {"protocol": "clear-shaped", "mix_fakes": True}


@pytest.mark.parametrize(
    ("shape", "options", "answer", "truth"),
    [
        ([*FRUIT], DRAWN, "apple", [300, 0, 0]),
        ({"c": ["r", "b"], "s": ["1", "2"]}, DRAWN, ["c=r", "s=2"], [300, 0, 0, 300]),
        (3, {"kind": "bits"}, [1, 0, 1], [300, 0, 300]),
        (3, {"hops": 2}, 2, [0, 0, 300]),
        (3, {"count_crowd": True, "protocol": "flip"}, 1, [0, 300, 0]),
    ],
    ids=["labels", "attributes", "bits", "a row of mixes", "flips of the crowd"],
)
def test_people_and_mixes_under_a_plan(shape, options, answer, truth):
    """Each estimate is within 30 standard errors, however many parts a record has: Laplace noise
    of whole numbers passes 20 one time in 10^9, and 30 one time in 10^13.
    """
    asked = plan(shape, epsilon=4, delta=1e-3, users=300, **options)
    result = answered(asked, [answer] * 300)
    assert result.people == 300
    off = [abs(r.estimate - true) for r, true in zip(result.rows, truth, strict=True)]
    assert max(off) < 30 * result.error


def test_numbers_under_a_plan_have_a_mean():
    """False alarm below 10^-9."""
    asked = plan(number=(0, 100), epsilon=4, delta=1e-4, users=300, mix_fakes=True)
    values = [float(one % 100) for one in range(300)]
    for result in (answered(asked, values, 1 - 1e-9), simulate(values, plan=asked, seed=1)):
        assert result.mean.lower <= 49.5 <= result.mean.upper
        assert result.mean.standard_error == pytest.approx(asked.mean_error, rel=1e-9)


def test_whoever_holds_a_plan_sets_its_limits():
    """A stranger's contract is held against limits that nobody has to name."""
    asked = plan(3, epsilon=2, delta=1e-5, users=300)
    assert Device(asked).fingerprint == asked.fingerprint
    for limits in ({"epsilon": 1}, {"delta": 1e-6}, {"hops": 2}, {"local_epsilon": 1}):
        with pytest.raises(RefusedError):
            Device(asked, **limits)
    with pytest.raises(RefusedError, match="epsilon: expected at most 1, got 2"):
        Device(by_people(), delta=0.1)

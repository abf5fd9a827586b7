"""A letter and its accents are one label from a plan to a device, however they are put together."""

import pandas as pd
import pytest

from helpers import contracts
from mixtally import Device, Question, plan, simulate
from mixtally.device import client
from mixtally.device.client.draw import RandomWords
from mixtally.device.client.encode import encode_value
from mixtally.errors import DataError, PlanError, RefusedError
from mixtally.model.contract import write_contract
from mixtally.model.question import Kind

ONE, TWO = "caf\u00e9", "cafe\u0301"
WISH = {"epsilon": 1, "delta": 1e-6}


def test_plans_of_both_forms_are_one():
    first, second = (plan([one, "tea"], users=400, **WISH) for one in (ONE, TWO))
    assert first.question.labels == second.question.labels == (ONE, "tea")
    assert first.fingerprint == second.fingerprint
    traits = [plan({one: [one, "tea"], "b": ["x", "y"]}, users=400, **WISH) for one in (ONE, TWO)]
    assert traits[0].question == traits[1].question
    frame = pd.DataFrame({TWO: [TWO, "tea"] * 200, "b": ["x", "y"] * 200})
    assert simulate(frame, plan=traits[0]).people == 400


def test_labels_of_a_plan_may_be_numbers_as_those_of_values_may():
    assert plan([1, 2.5, True], users=400, **WISH).question.labels == ("1", "2.5", "True")


@pytest.mark.parametrize("labels", [[ONE, TWO], {"a": [TWO, ONE], "b": ["x", "y"]}])
def test_two_forms_are_two_names_of_one_bin(labels):
    with pytest.raises(PlanError, match="distinct labels"):
        plan(labels, users=400, **WISH)
    with pytest.raises(PlanError, match="2 labels, 1 distinct"):
        Question(name="q", bins=2, labels=(ONE, TWO))


@pytest.mark.parametrize("other", ["tea ", "te\u200ba"])
def test_what_nobody_can_tell_apart_is_no_two_labels(other):
    with pytest.raises(DataError, match="invisible signs"):
        plan(["tea", other], users=400, **WISH)


def contract(question, part):
    return write_contract(contracts.contract_of(contracts.plan_of(question, [part])))


@pytest.mark.parametrize("asked", [ONE, TWO])
@pytest.mark.parametrize("answered", [ONE, TWO])
def test_a_device_takes_an_answer_in_either_form(asked, answered):
    limits = {"epsilon": 20, "delta": 0.1}
    one = contract(Question(name="q", bins=3, labels=("tea", asked, "milk")), contracts.shaped(3))
    device = Device(one, **limits)
    assert device.messages(answered).parts[0][0] == bytes([1])
    several = Question(name="q", bins=3, labels=("tea", asked, "x"), kind=Kind.SET, max_set=2)
    device = Device(contract(several, contracts.flipped(3, most_set=2, blanks=99)), **limits)
    with pytest.raises(RefusedError, match="every member once"):
        device.messages([ONE, TWO])
    plan = client.parse_contract(
        contract(several, contracts.flipped(3, most_set=2, blanks=99))
    ).plan
    assert encode_value(plan, [answered, "tea"], RandomWords(lambda _: b"")) == [(0, 1)]

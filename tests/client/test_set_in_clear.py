"""A device sends a set in clear as k different cells: members, and a pad for each that it lacks."""

import pytest

from helpers import contracts
from mixtally.device import client
from mixtally.device.client.draw import RandomWords, draw_record
from mixtally.device.contract.part import read_part
from mixtally.errors import AccountingError, RefusedError
from mixtally.model.contract import write_contract
from mixtally.model.question import Kind, Question

BINS, MOST = 300, 4


def bare(most=MOST):
    part = contracts.uniform(BINS, most_set=most, whole=2, coin=0)
    return read_part(contracts.builtins_of(part), "part")


def cells(members):
    return [
        int.from_bytes(one, "little")
        for one in draw_record(bare(), members, RandomWords(lambda count: bytes(8 * count)))
    ]


@pytest.mark.parametrize(
    ("members", "wanted"),
    [
        ([], [300, 301, 302, 303]),
        ([299], [299, 300, 301, 302]),
        ([0, 7, 9], [0, 7, 9, 300]),
        ([1, 2, 3, 4], [1, 2, 3, 4]),
    ],
)
def test_every_set_is_as_many_different_cells(members, wanted):
    assert cells(members) == wanted
    assert len(set(wanted)) == MOST


@pytest.mark.parametrize("members", [[1, 1], [1, 2, 2], [1, 2, 3, 4, 5]])
def test_a_member_twice_or_one_too_many_is_not_sent(members):
    with pytest.raises(AccountingError, match="at most 4 different bins"):
        cells(members)


def test_messages_are_as_many_for_every_set():
    asked = Question(name="q", bins=BINS, kind=Kind.SET, max_set=MOST)
    part = contracts.uniform(BINS, most_set=MOST, whole=2, coin=0)
    plan = client.parse_contract(
        write_contract(contracts.contract_of(contracts.plan_of(asked, [part])))
    ).plan
    assert (plan.parts[0].least, plan.parts[0].most) == (part.least, part.most) == (6, 6)
    assert plan.parts[0].protocol == part.protocol == "clear-uniform"
    for value in (None, [], [3], [9, 8, 7, 6]):
        (sent,) = client.messages(plan, value, lambda count: bytes(8 * count))
        assert [len(message) for message in sent] == [2] * 6
    for value, reason in (([3, 3], "member-twice"), ([1, 2, 3, 4, 5], "too-many-members")):
        with pytest.raises(RefusedError) as refused:
            client.messages(plan, value, lambda count: bytes(8 * count))
        assert refused.value.reason == reason

"""Words that cannot be right end in an error, never in a message."""

import pytest

from helpers import contracts
from mixtally.device import client
from mixtally.device.client.draw import RandomWords, draw_message
from mixtally.device.contract.part import ContractPart, Layout, Recipe
from mixtally.errors import AccountingError, RefusedError
from mixtally.model.contract import write_contract
from mixtally.model.question import Question

QUARTER = 1 << 62


def test_words_that_repeat_end_in_an_error():
    part = ContractPart(9, 1, QUARTER, None, Recipe("none"), Layout("bits", 9, 2), 1)
    with pytest.raises(AccountingError, match="the source repeats"):
        draw_message(part, (0,), RandomWords(lambda count: bytes(8 * count)))
    with pytest.raises(AccountingError, match="the source repeats"):
        RandomWords(lambda count: b"\xff" * 8 * count).uniform(3)


@pytest.mark.parametrize("size", [0, 3, 9])
def test_words_of_another_length_end_in_an_error(size):
    with pytest.raises(AccountingError, match=f"expected 8 bytes, got {size}"):
        RandomWords(lambda _: bytes(size)).uniform(3)


def test_coins_are_tossed_before_the_value_is_read():
    plan = contracts.plan_of(Question(name="q", bins=4), [contracts.uniform(4, whole=1)])
    read, asked = client.parse_contract(write_contract(contracts.contract_of(plan))).plan, []

    def source(count):
        asked.append(count)
        return bytes(8 * count)

    with pytest.raises(RefusedError):
        client.messages(read, "no answer of this question", source)
    assert asked == [1]

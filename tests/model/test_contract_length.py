"""A contract that roles and devices would not read is refused where it is made."""

import pytest

from helpers import contracts
from mixtally.device.contract import fields
from mixtally.device.contract.contract import parse_contract as read_by_devices
from mixtally.device.wire.note import Signer, sign_note
from mixtally.errors import PlanError, RefusedError
from mixtally.model import contract_json
from mixtally.model.contract import read_contract, write_contract, write_plan
from mixtally.model.question import Question
from mixtally.server.node.web.routes import MOST_NOTE_BYTES


def terms(bytes_a_label):
    labels = tuple(f"{i}" + "x" * bytes_a_label for i in range(3))
    asked = Question(name="q", bins=3, labels=labels)
    return contracts.plan_of(asked, [contracts.shaped(3)])


def test_one_limit_for_all():
    names = [f"{i}" * 100 for i in range(6)]
    text = b"{" + b" " * (fields.MOST_TEXT_BYTES - 3) + b"}\n"
    assert len(text) == fields.MOST_TEXT_BYTES
    note = sign_note(text, *(Signer(name, bytes([1]) * 32) for name in names))
    assert len(note) <= MOST_NOTE_BYTES


def test_what_is_too_long_is_not_made(monkeypatch):
    size = len(write_contract(contracts.contract_of(terms(10))))
    monkeypatch.setattr(contract_json, "MOST_TEXT_BYTES", size)
    contract = contracts.contract_of(terms(10))
    assert len(write_contract(contract)) == size
    for make in (
        lambda: write_contract(contracts.contract_of(terms(11))),
        lambda: write_plan(terms(size)),
    ):
        with pytest.raises(
            PlanError, match=f"expected at most {size:,} bytes, the limit of roles and devices"
        ):
            make()


def test_what_is_too_long_is_not_read():
    long = b" " * (fields.MOST_TEXT_BYTES + 1)
    with pytest.raises(PlanError, match="expected at most 16,711,680 bytes, got 16711681"):
        read_contract(long, "a file")
    with pytest.raises(RefusedError) as error:
        read_by_devices(long)
    assert error.value.reason == "too-long"

"""A ledger is read as it was written, or refused: edited, reordered, cut short, foreign."""

import json
from unittest.mock import ANY

import pytest

from mixtally.errors import InputError, ParameterError, PlanError
from mixtally.model import ledger as ledgers
from mixtally.model.guarantee import Guarantee
from mixtally.model.ledger import Charge, Ledger, add_charge, new_ledger, read_ledger
from mixtally.primitives.codec import canonical_bytes
from model.builders import a_certificate, a_plan

BUDGET = Guarantee(epsilon=3.0, delta=1e-5)
OTHER = a_plan(users=2000)


def a_ledger():
    one = add_charge(new_ledger(BUDGET), a_plan(), 2, note="spring", date="2024-03-01")
    return add_charge(one, OTHER, 1, note="fall", date="2024-09-01")


def read(data):
    return read_ledger(data, "my.ledger")


def edited(change):
    """The bytes of a valid ledger after ``change`` of its fields, canonical again."""
    tree = json.loads(canonical_bytes(a_ledger()))
    change(tree)
    return json.dumps(tree, sort_keys=True, separators=(",", ":")).encode()


def test_a_ledger_that_was_written_before_is_read():
    """The seal is part of the file's format: its bytes are what version 2 always wrote."""
    written = (
        b'{"budget":{"delta":1e-05,"epsilon":3.0,"observer":"messages"},"charges":[],'
        b'"seal":"ff9178d82fe867d4e1d86a7b1cd03c8c58b3a06b2d66ab56c6a8caa64043b9c5","version":2}'
    )
    assert read(written) == new_ledger(BUDGET)
    assert canonical_bytes(new_ledger(BUDGET)) == written


def accepted(data):
    try:
        read(data)
    except InputError:
        return False
    return True


def swap(tree):
    tree["charges"].reverse()


def larger_plan(tree):
    """Another plan with its own fingerprint: only the seal can tell."""
    plan = a_plan(users=5000)
    tree["charges"][0]["plan"] = json.loads(canonical_bytes(plan))
    tree["charges"][0]["fingerprint"] = plan.fingerprint


EDITS = {
    "last charge dropped": lambda tree: tree["charges"].pop(),
    "first charge dropped": lambda tree: tree["charges"].pop(0),
    "all dropped": lambda tree: tree["charges"].clear(),
    "order": swap,
    "fewer times": lambda tree: tree["charges"][0].update(times=1),
    "note": lambda tree: tree["charges"][0].update(note="summer"),
    "date": lambda tree: tree["charges"][1].update(date="2025-09-01"),
    "budget epsilon": lambda tree: tree["budget"].update(epsilon=4.0),
    "budget delta": lambda tree: tree["budget"].update(delta=1e-4),
    "other plan": larger_plan,
    "doubled": lambda tree: tree["charges"].append(tree["charges"][0]),
    "seal": lambda tree: tree.update(seal="0" * 64),
    "no seal": lambda tree: tree.update(seal=""),
    "seal of the empty ledger": lambda tree: tree.update(seal=new_ledger(BUDGET).seal),
}


def test_a_ledger_comes_back_from_its_bytes():
    ledger = a_ledger()
    assert read(canonical_bytes(ledger)) == ledger
    assert read(canonical_bytes(new_ledger(BUDGET))) == new_ledger(BUDGET)
    assert [(c.plan, c.times, c.note, c.date) for c in ledger.charges] == [
        (a_plan(), 2, "spring", "2024-03-01"),
        (OTHER, 1, "fall", "2024-09-01"),
    ]


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_ledger_is_refused(edit):
    data = edited(EDITS[edit])
    with pytest.raises(PlanError, match=r"my.ledger: expected a ledger, whole .* restore it"):
        read(data)


@pytest.mark.parametrize("edit", EDITS)
def test_without_the_seal_edits_would_pass(monkeypatch, edit):
    """The planted bug: a reader that takes every seal lets every edit through."""
    data = edited(EDITS[edit])
    monkeypatch.setattr(ledgers, "_seal_of", lambda *_: ANY)
    assert accepted(data)
    monkeypatch.undo()
    assert not accepted(data)


def test_a_chain_that_forgets_the_seal_before_is_noticed(monkeypatch):
    """The planted bug: each charge sealed alone does not notice that an earlier one is gone."""
    honest = ledgers._next_seal
    monkeypatch.setattr(ledgers, "_next_seal", lambda _, charge: honest("", charge))
    data = edited(EDITS["first charge dropped"])
    assert accepted(data)
    monkeypatch.undo()
    assert not accepted(edited(EDITS["first charge dropped"]))


@pytest.mark.parametrize("keep", [0, 1, 50, -1, -100])
def test_a_truncated_file_is_refused(keep):
    with pytest.raises(PlanError, match="Restore it"):
        read(canonical_bytes(a_ledger())[:keep])


@pytest.mark.parametrize(
    "data", [b"{}", b"[]", b"null", b"hello", b"\xff\xfe", canonical_bytes(OTHER)]
)
def test_another_file_is_no_ledger(data):
    with pytest.raises(PlanError, match="Restore it"):
        read(data)


def test_another_spelling_is_refused():
    with pytest.raises(PlanError):
        read(json.dumps(json.loads(canonical_bytes(a_ledger())), indent=1).encode())


def test_every_single_byte_matters():
    data = canonical_bytes(a_ledger())
    for place in range(0, len(data), 7):
        flipped = bytes([*data[:place], data[place] ^ 1, *data[place + 1 :]])
        assert not accepted(flipped), place


def test_another_version_is_refused():
    with pytest.raises(PlanError, match="ledger version"):
        Ledger(version=1, budget=BUDGET, charges=(), seal=new_ledger(BUDGET).seal)


def test_a_ledger_of_the_version_before_is_told_by_its_version():
    """Whatever else it holds: its plans had other fields."""

    def older(tree):
        tree["version"] = 1
        tree["charges"][0]["plan"] = {"version": 3, "mechanism": {}}

    with pytest.raises(PlanError, match=r"^my.ledger: .*ledger\.version: expected .*2.*, got 1"):
        read(edited(older))


def test_a_charge_belongs_to_its_plan():
    with pytest.raises(PlanError, match="charge: expected the plan"):
        Charge(fingerprint=OTHER.fingerprint, plan=a_plan(), times=1)


@pytest.mark.parametrize("times", [0, -1])
def test_a_charge_cannot_be_taken_back(times):
    with pytest.raises(ParameterError, match="times"):
        add_charge(new_ledger(BUDGET), OTHER, times)


@pytest.mark.parametrize("text", ["two\nlines", "\x1b[31mred", "x" * 201])
@pytest.mark.parametrize("field", ["note", "date"])
def test_text_is_one_printable_line(field, text):
    with pytest.raises(ParameterError, match=f"{field}: expected one printable line"):
        add_charge(new_ledger(BUDGET), OTHER, 1, **{field: text})


def test_seals_differ_with_budget_order_and_charges():
    again = add_charge(add_charge(new_ledger(BUDGET), OTHER, 1), a_plan(), 2)
    seals = {
        new_ledger(BUDGET).seal,
        new_ledger(Guarantee(epsilon=3.0, delta=1e-6)).seal,
        a_ledger().seal,
        again.seal,
        add_charge(new_ledger(BUDGET), OTHER, 2).seal,
        add_charge(new_ledger(BUDGET), a_plan(certificate=a_certificate(upper=1e-6)), 2).seal,
    }
    assert len(seals) == 6


def test_a_ledger_cannot_be_changed():
    with pytest.raises(AttributeError):
        a_ledger().charges = ()

"""A contract is derived again and signed by its collector, and its mixes' signatures gathered."""

import pytest
from msgspec.structs import replace

from helpers import contracts
from helpers.collector_scene import Office
from helpers.roles_in_folders import ENVIRONMENT
from mixtally.device.contract.fields import fingerprint_of
from mixtally.device.wire.note import find_signers, sign_note
from mixtally.errors import PlanError
from mixtally.model.contract import write_contract
from mixtally.primitives.chance import SecureChance
from mixtally.server.collector import parse_signed_contract, sign, verify_contract
from mixtally.server.collector.contracts import load_signed_contract, note_path
from mixtally.server.node.calls import Answer, SilentError
from mixtally.server.node.folder import open_folder
from mixtally.server.node.node import Node
from mixtally.server.node.peers import format_listing
from mixtally.server.node.refusal import OldStateError


@pytest.fixture
def office(tmp_path):
    return Office(tmp_path, hops=2)


def node_of(office):
    return Node(open_folder(office.folders[-1].path, ENVIRONMENT), SecureChance())


def signed_now(office, text=None):
    text = text or office.text
    node = node_of(office)
    try:
        return sign(node, parse_signed_contract(text, "contract"), text, office.call, office.now)
    finally:
        node.close()


def test_a_contract_whose_numbers_hold(office):
    question = office.contract.plan.question
    plan = contracts.proved(contracts.plan_of(question, [contracts.shaped(4)], delta=1e-4))
    text = write_contract(replace(office.contract, plan=plan))
    assert verify_contract(text, office.folders[-1], "c.json").contract.plan == plan


def test_a_promise_that_is_false(office):
    with pytest.raises(PlanError, match="certificate of the plan"):
        verify_contract(
            office.text, office.folders[-1], "c.json"
        )  # its certificate is a placeholder


def test_another_collector(office):
    with pytest.raises(PlanError, match=r"collector of c\.json: expected mix-1 at"):
        verify_contract(office.text, office.folders[0], "c.json")


def test_signatures_are_gathered_and_given_to_all(office):
    mixes = [office.node(1), office.node(2)]
    for node in mixes:
        office.awake(node)
    found = signed_now(office)
    keys = found.agreed.agreement.keys
    assert found.missing == {}
    assert find_signers(found.note, keys) == set(keys)
    assert note_path(office.folders[-1], office.contract).read_bytes() == found.note
    for node in mixes:
        assert find_signers(node.notes.of(office.fingerprint), keys) == set(keys)


def test_all_signatures_wait_for_a_mix_that_did_not_hear_of_them(office):
    """Its own errands may be over by then: the note is put down for it once more."""
    mixes = [office.node(1), office.node(2)]
    for node in mixes:
        office.awake(node)
    asked, last = [], (office.folders[0].role.address, "/notes")

    def call(address, method, path, body):
        asked.append((address, path))
        if asked[-1] == last and asked.count(last) == 2:
            raise SilentError("lost")
        return office.call(address, method, path, body)

    node = node_of(office)
    try:
        node.sign_contract(parse_signed_contract(office.text, "contract").agreement, office.text)
        for errand in node.notes.list_unsent():
            node.notes.record_try(errand, done=True)
        found = sign(
            node, parse_signed_contract(office.text, "contract"), office.text, call, office.now
        )
        waiting = [(errand.role, errand.note) for errand in node.notes.list_unsent()]
    finally:
        node.close()
    assert waiting == [("mix-1", found.note)]
    assert find_signers(found.note, found.agreed.agreement.keys) == set(found.agreed.agreement.keys)


def test_mixes_that_have_not_signed_are_named_and_asked_again(office):
    office.awake(office.node(1))
    late = office.node(2, sign=False)
    late.agreements.clear()
    office.awake(late)
    found = signed_now(office)
    assert list(found.missing) == ["mix-2"]
    assert "has not signed that contract" in found.missing["mix-2"]
    office.apps.pop(office.folders[0].role.address)
    agreement = office.agreement(2)
    late.sign_contract(agreement, office.text)
    late.start_serving(agreement)
    late.cleared.add(office.fingerprint)
    assert signed_now(office).missing == {}  # mix 1 is silent now, but its signature is known


@pytest.mark.parametrize(
    "answer",
    [
        Answer(404, b"<html>"),
        Answer(501, b""),
        Answer(200, b"hello"),
        Answer(403, b'{"title": "no"}'),
        Answer(404, b'{"type": "/problems/not-agreed", "title": "x"}'),
        Answer(403, b"[" * 100_000),
    ],
)
def test_another_program_at_the_address_of_a_mix_is_named(office, answer):
    office.awake(office.node(1))
    taken = office.folders[1].role.address
    usual = office.call
    office.call = lambda address, *more: answer if address == taken else usual(address, *more)
    found = signed_now(office)
    said = f"another program answers at {taken}"
    assert (found.missing, found.strangers) == ({"mix-2": said}, {"mix-2": said})


def test_a_mix_at_the_address_of_another_is_named(office):
    office.awake(office.node(1))
    first, taken = (office.folders[place].role.address for place in (0, 1))
    other = office.node(2, sign=False)
    other.agreements.clear()
    office.awake(other)
    usual = office.call
    status = Answer(200, b'{"name": "mix-7"}')

    def call(address, method, path, body):
        asked = address == taken and path == "/status"
        return status if asked else usual(address, method, path, body)

    assert signed_now(office).strangers == {}  # it is the mix itself, which has not signed
    office.call = call
    assert signed_now(office).strangers == {"mix-2": f"mix-7 answers at {taken}"}
    assert first != taken


def test_one_contract_a_serial(office):
    signed_now(office)
    other = replace(office.contract, client_files=contracts.FILES)
    with pytest.raises(PlanError, match="Give the new one a larger serial"):
        signed_now(office, write_contract(other))
    third = write_contract(replace(other, serial=2))
    assert signed_now(office, third).agreed.contract.serial == 2
    assert load_signed_contract(office.folders[-1], None).contract.serial == 2
    assert load_signed_contract(office.folders[-1], "home-page").contract.serial == 2
    with pytest.raises(PlanError, match="of a signed contract, got fruit among home-page"):
        load_signed_contract(office.folders[-1], "fruit")


def test_a_signature_that_is_forgotten_is_shown(office):
    """A mix knows a contract of the same serial that this folder does not: it is an old copy."""
    other = replace(office.contract, client_files=contracts.FILES)
    note = sign_note(write_contract(other), office.folders[-1].signer)
    mix = office.node(1)
    office.awake(mix)
    real = office.call

    def call(address, method, path, body=b""):
        if path == "/notes/collector":
            return Answer(200, format_listing([fingerprint_of(note)]))
        if path == f"/note/{fingerprint_of(note)}":
            return Answer(200, note)
        return real(address, method, path, body)

    office.call = call
    with pytest.raises(OldStateError):
        signed_now(office)
    assert not note_path(office.folders[-1], office.contract).exists()

"""A round is proposed: signed by all, or it is said who refused and why; a retry goes on."""

import json

import pytest

from helpers import contracts
from helpers.collector_scene import Office
from helpers.roles_in_folders import ENVIRONMENT, EVERY, OPEN
from mixtally.device.contract.fields import fingerprint_of
from mixtally.device.wire.note import find_signers, sign_note
from mixtally.device.wire.sheet import read_sheet
from mixtally.errors import DataError, ParameterError, PlanError
from mixtally.primitives.chance import SecureChance
from mixtally.server.collector import CollectorState, Proposal, propose, sign, withdraw
from mixtally.server.collector.proposing import DAY
from mixtally.server.node.calls import Answer
from mixtally.server.node.events import Log, format_time
from mixtally.server.node.folder import open_folder
from mixtally.server.node.node import Node
from mixtally.server.node.peers import format_listing
from mixtally.server.node.pieces import Pieces
from mixtally.server.node.refusal import OldStateError


@pytest.fixture
def office(tmp_path):
    office = Office(tmp_path, hops=2)
    office.begin()
    return office


def refused(office, kind=DataError, wish=None, call=None):
    with pytest.raises(kind) as error:
        propose(office.collector.node, office.agreed, call or office.call, office.now, wish)
    return str(error.value)


def test_a_sheet_that_all_have_signed_and_have(office):
    done = office.proposed()
    keys = office.agreed.agreement.keys
    assert find_signers(done.note, keys) == set(keys)
    assert not done.is_resumed
    sheet = done.sheet
    assert (sheet.round, sheet.opens, sheet.closes) == (1, office.now, office.now + OPEN)
    assert sheet.expires == sheet.closes + DAY
    path = f"/contracts/{office.fingerprint}/rounds/1"
    for role in office.agreed.agreement.roles:
        answer = office.call(role.address, "GET", path)
        assert find_signers(answer.body, keys) == set(keys)


def test_a_command_charges_and_expects_nothing_of_a_round_that_is_served(office, monkeypatch):
    """The serving process may destroy a round's folder while a command looks at it."""
    office.proposed()
    office.over()
    manifests, _ = office.usual([0, 1])
    usual = Pieces.expect

    def expect(pieces, *given):
        assert pieces is office.collector.node.pieces, "a command has made a round's folder"
        usual(pieces, *given)

    monkeypatch.setattr(Pieces, "expect", expect)
    for manifest in manifests:
        assert office.post(office.note_of(manifest)).status == 204
    steps = []
    node = Node(open_folder(office.folders[-1].path, ENVIRONMENT), SecureChance(), steps.append)
    assert propose(node, office.agreed, office.call, office.now).sheet.round == 2
    sign(node, office.agreed, office.text, office.call, office.now)
    node.close()
    assert "after charge" not in steps
    assert node.pieces.max_bytes(manifests[-1].parts[0].pieces[0].sha256) is None


def test_rounds_follow_each_other_and_end_with_the_contract(office):
    first = office.proposed().sheet
    second = office.proposed(Proposal(expiry_delay=60)).sheet
    assert (second.round, second.opens, second.expires - second.closes) == (
        2,
        first.opens + EVERY,
        60,
    )
    assert office.proposed(Proposal(opens=second.opens + 5000)).sheet.round == 3
    said = refused(office, PlanError)
    assert "at most 3, for which the contract is priced" in said


def test_a_window_that_all_have_signed_is_named_by_its_round(office):
    first = office.proposed().sheet
    second = office.proposed(Proposal(opens=first.opens + EVERY)).sheet
    for sheet in (first, second):
        done = office.proposed(Proposal(opens=sheet.opens))
        assert done.is_resumed
        assert done.sheet == sheet
    said = refused(office, PlanError, Proposal(opens=second.opens + 1))
    assert "round 2 is not over then: it closes 1970-01-" in said
    again = Proposal(opens=second.opens, fresh=True)
    assert "round 2 is not over then" in refused(office, PlanError, again)
    office.now = first.closes
    assert "over already" in refused(office, PlanError, Proposal(opens=first.opens))


def test_an_operator_is_told_the_window_before_it_opens(office):
    lines = []
    office.collector.node.log = Log(lines.append, as_json=True)
    first = office.proposed(Proposal(opens=office.now + 100)).sheet
    told = [json.loads(line) for line in lines]
    assert [one["event"] for one in told] == ["round signed", "round signed by all"]
    for one in told:
        assert (one["opens"], one["closes"]) == (
            format_time(first.opens),
            format_time(first.closes),
        )


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        (Proposal(opens=5), "the round would be over already"),
        (Proposal(expiry_delay=10**8), "times-out-of-range"),
    ],
)
def test_times_that_no_role_signs(office, wish, words):
    assert words in refused(office, PlanError, wish)
    assert office.row() is None  # no number is used up
    assert office.proposed().sheet.round == 1


def test_a_round_too_early_after_the_last(office):
    first = office.proposed().sheet
    assert "seconds after the one before" in refused(
        office, PlanError, Proposal(opens=first.closes)
    )


def test_a_mix_that_is_silent_is_named_and_nothing_is_half_done(office):
    address = office.folders[1].role.address
    app = office.apps.pop(address)
    assert "none of mix-2" in refused(office)
    assert office.row() is None
    office.apps[address] = app
    assert office.proposed().sheet.round == 1


def test_a_mix_that_is_not_ready_is_named(office):
    """It waits itself for what others know: it makes no key yet."""
    office.mixes[1].cleared.clear()
    said = refused(office)
    assert "mix-2: This role does not serve yet [503]" in said
    assert office.row() is None
    office.mixes[1].cleared.add(office.fingerprint)
    office.proposed()


def failing(office, name, answers):
    """A call that a mix answers so, one answer a sheet that it is sent."""
    address = next(one.role.address for one in office.folders if one.role.name == name)

    def call(to, method, path, body=b""):
        if to == address and path == "/notes" and b'"sheet"' in body and answers:
            answer = answers.pop(0)
            return office.call(to, method, path, body) if answer is None else answer
        return office.call(to, method, path, body)

    return call


def test_a_sheet_that_one_refused_is_the_one_that_is_asked_for_again(office):
    body = json.dumps({"title": "No", "detail": "not\ntoday"}).encode()
    said = refused(office, call=failing(office, "mix-2", [Answer(403, body)]))
    assert "mix-2: No (not\N{REPLACEMENT CHARACTER}today) [403]" in said
    assert "mix-1" not in said
    before = office.collector.node.sheet_note(office.row())
    done = office.proposed(Proposal(opens=office.now + 77))  # the wish comes too late
    assert done.is_resumed
    assert done.sheet == read_sheet(before)
    assert office.mixes[0].rounds.last("home-page").round == 1


def test_answers_that_are_no_signature(office):
    note = office.text + b"\n"
    for answer, words in (
        (Answer(200, note), "it answered with another text"),
        (Answer(200, b""), "it answered with another text"),
    ):
        assert words in refused(office, call=failing(office, "mix-1", [answer]))
    text = office.collector.node.sheet_note(office.row()).partition(b"\n\n")[0] + b"\n"
    said = refused(office, call=failing(office, "mix-1", [Answer(200, text)]))
    assert "it answered without its signature" in said
    office.proposed()


def test_a_number_can_be_given_up(office):
    refused(office, call=failing(office, "mix-2", [Answer(403, b"?")]))
    done = office.proposed(Proposal(fresh=True))
    assert (done.sheet.round, done.is_resumed) == (2, False)


def test_a_window_that_is_over_uses_up_its_number(office):
    refused(office, call=failing(office, "mix-2", [Answer(403, b"?")]))
    office.now += OPEN
    office.collector.tick(office.now)
    assert office.proposed().sheet.round == 2


def test_keys_of_another_form(office):
    def call(to, method, path, body=b""):
        if path.endswith("/key") and to == office.folders[0].role.address:
            return Answer(200, b"no key")
        return office.call(to, method, path, body)

    said = refused(office, call=call)
    assert "mix-1: key of a hop: expected a key configuration of suite 1" in said
    assert office.row() is None


def test_whoever_has_not_answered_is_told_by_the_loop(office):
    """The last message is lost; the collector's and mixes' own errands bring the signatures."""
    call = failing(office, "mix-1", [None, Answer(503, b"{}")])
    said = refused(office, call=call)
    assert "serve` sends it again" in said
    office.collector.tick(office.now)
    keys = office.agreed.agreement.keys
    assert find_signers(office.collector.node.sheet_note(office.row()), keys) == set(keys)
    office.peers(office.mixes[1]).send_all(office.now)
    row = office.mixes[0].rounds.last("home-page")
    assert office.mixes[0].is_complete(row)


def test_prefixes_only_where_words_are_asked_for(office):
    said = refused(office, ParameterError, Proposal(prefixes=((1,),)))
    assert "the question does not ask for words" in said
    assert contracts.SEED  # the other kind is in test_prefixed


def test_a_round_is_withdrawn_and_its_number_used_up(office):
    office.proposed(Proposal(opens=office.now + 80_000))
    asked = office.agreed, office.call, 1
    assert find_signers(
        withdraw(office.collector.node, *asked, office.now), office.agreed.agreement.keys
    )
    office.collector.tick(office.now)
    assert (office.row().state, office.row().ended) == (CollectorState.WITHDRAWN, "withdrawn")
    assert not list((office.folders[-1].path / "keys").iterdir())
    assert b"withdrawn before it opened" in office.ask("GET", "/").body
    assert "withdrawn" in json.loads(office.result().body)["refusal"]
    assert withdraw(office.collector.node, *asked, office.now + 10**6)  # it is known to all
    done = office.proposed()
    assert (done.sheet.round, done.sheet.opens) == (2, office.now)
    with pytest.raises(DataError, match="expected a round that has not opened"):
        withdraw(office.collector.node, office.agreed, office.call, 2, office.now)
    with pytest.raises(DataError, match="expected a round that was proposed"):
        withdraw(office.collector.node, office.agreed, office.call, 3, office.now)


def test_a_withdrawal_that_one_did_not_sign_is_asked_for_again(office):
    office.proposed(Proposal(opens=office.now + 80_000))
    lost = failing(office, "mix-2", [Answer(503, b"{}")])
    with pytest.raises(DataError, match=r"withdrawal of round 1: .*none of mix-2"):
        withdraw(office.collector.node, office.agreed, lost, 1, office.now)
    note = withdraw(office.collector.node, office.agreed, office.call, 1, office.now)
    assert len(find_signers(note, office.agreed.agreement.keys)) == len(office.folders)


def test_a_sheet_that_is_withdrawn_is_asked_for_no_more(office):
    """One mix refused it, so its number is given up."""
    refused(
        office,
        call=failing(office, "mix-2", [Answer(403, b"{}")]),
        wish=Proposal(opens=office.now + 999),
    )
    with pytest.raises(DataError, match="none of mix-2"):
        withdraw(office.collector.node, office.agreed, office.call, 1, office.now)
    assert office.proposed().sheet.round == 2


def test_an_old_copy_proposes_nothing(office):
    """A process that begins asks all mixes first; one shows a sheet that this folder lacks."""
    forgotten = sign_note(
        office.sheet([*office.mixes, office.collector.node]), office.folders[-1].signer
    )
    node = Node(open_folder(office.folders[-1].path, ENVIRONMENT), SecureChance())

    def call(to, method, path, body=b""):
        if path == "/notes/collector":
            return Answer(200, format_listing([fingerprint_of(forgotten)]))
        if path == f"/note/{fingerprint_of(forgotten)}":
            return Answer(200, forgotten)
        return office.call(to, method, path, body)

    with pytest.raises(OldStateError, match="restore the newest folder"):
        propose(node, office.agreed, call, office.now)
    assert node.rounds.last("home-page") is None
    node.close()

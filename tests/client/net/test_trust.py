"""Contracts and sheets are believed when all signed them and the person pinned them; else refused.

Every case is by name, with the reason that it must give.
"""

import random

import pytest

from helpers import contracts
from helpers.devices import ANY, ASKED, LABELS, NOW, OPEN, SUITE, World, by_mixes, secret
from mixtally.device.client.limits import Limits
from mixtally.device.client.net import Pins, open_round, verify_contract
from mixtally.device.client.net.trust import frame_of
from mixtally.device.contract.contract import parse_contract
from mixtally.device.wire.note import Signer, sign_note
from mixtally.device.wire.suite import SUITES
from mixtally.errors import RefusedError
from mixtally.model.contract import Prefixes, write_contract
from mixtally.model.contract.job import agreement_of
from mixtally.model.question import Question
from mixtally.server.node import rules

WORLD = World()
MIX, SECOND, COLLECTOR = WORLD.signers
STRANGER = Signer("mix-1", secret("somebody else"))
EACH = {one.name: one.public for one in WORLD.signers}


def reason(call, *arguments):
    with pytest.raises(RefusedError) as refusal:
        call(*arguments)
    return refusal.value.reason


def test_the_pinned_contract_and_its_round_are_taken():
    agreed = verify_contract(WORLD.note, WORLD.pins, ANY)
    assert agreed.contract.fingerprint == WORLD.fingerprint
    given = open_round(agreed, WORLD.sheet(), NOW)
    assert (given.sheet.round, given.contract) == (1, agreed.contract)


@pytest.mark.parametrize("names", [["mix-1"], ["mix-2", "collector"], list(EACH)])
def test_keys_may_be_pinned_in_place_of_a_fingerprint(names):
    pins = Pins(keys=tuple((name, EACH[name]) for name in names))
    assert verify_contract(WORLD.note, pins, ANY).contract.name == "home-page"


def lines(*signers):
    """The contract, signed by these alone."""
    return sign_note(WORLD.text, *signers)


FORGED = (
    WORLD.text
    + b"\n"
    + MIX.signature_line(b"another\n")
    + lines(SECOND, COLLECTOR)[len(WORLD.text) + 1 :]
)
"""The first mix signed something else."""
CONTRACTS = {
    "nothing is pinned": (WORLD.note, Pins(), "nothing-pinned"),
    "only the collector is pinned": (
        WORLD.note, Pins(keys=(("collector", COLLECTOR.public),)), "nothing-pinned",
    ),
    "another fingerprint is pinned": (WORLD.note, Pins("0" * 64), "not-the-pinned-contract"),
    "another key is pinned for a role": (
        WORLD.note, Pins(keys=(("mix-1", STRANGER.public),)), "not-the-pinned-key",
    ),
    "a pinned role is not there": (
        WORLD.note,
        Pins(keys=(("mix-1", MIX.public), ("mix-9", STRANGER.public))),
        "not-the-pinned-key",
    ),
    "right fingerprint, wrong key": (
        WORLD.note, Pins(WORLD.fingerprint, (("mix-2", STRANGER.public),)), "not-the-pinned-key",
    ),
    "nobody signed": (WORLD.text, WORLD.pins, "signature-missing"),
    "a mix did not sign": (lines(MIX, COLLECTOR), WORLD.pins, "signature-missing"),
    "the collector did not sign": (lines(MIX, SECOND), WORLD.pins, "signature-missing"),
    "somebody signed in the name of a mix": (
        lines(STRANGER, SECOND, COLLECTOR), WORLD.pins, "signature-missing",
    ),
    "a signature of another text": (FORGED, WORLD.pins, "signature-false"),
    "a text that was altered below its signatures": (
        WORLD.note.replace(b"opinion", b"opiniom"),
        Pins(keys=(("mix-1", MIX.public),)),
        "signature-false",
    ),
    "lines that are no signatures": (WORLD.note + b"more\n", WORLD.pins, "no-note"),
    "a sheet in place of a contract": (WORLD.sheet(), WORLD.pins, "unknown-version"),
    "no note at all": (b"\x00\x01", WORLD.pins, "not-json"),
}  # fmt: skip


def test_an_altered_text_is_told_with_who_signed_another():
    note, pins, _ = CONTRACTS["a text that was altered below its signatures"]
    with pytest.raises(RefusedError) as found:
        verify_contract(note, pins, Limits())
    assert found.value.expected == "a signature of mix-1 that fits the text"
    assert "the text or the signature was altered" in found.value.got


@pytest.mark.parametrize("name", CONTRACTS)
def test_a_contract_is_refused(name):
    note, pins, why = CONTRACTS[name]
    assert reason(verify_contract, note, pins, ANY) == why


def test_a_contract_past_a_limit_is_refused():
    assert reason(verify_contract, WORLD.note, WORLD.pins, ANY._replace(hops=3)) == "too-few-hops"
    assert (
        reason(verify_contract, WORLD.note, WORLD.pins, ANY._replace(delta=1e-6))
        == "above-own-limit"
    )


@pytest.mark.parametrize(
    "address",
    [
        "https://user@mix.example",
        "https://mix.example/?to=elsewhere",
        "https://mix.example/#there",
        "https://mix.example:port",
        "https://mix.example:99999",
        "https://:443",
        "https:///bundles",
        "https://[::1",
        "https://mix.example\\@elsewhere",
    ],
)
def test_an_address_that_nothing_can_be_sent_to_is_refused(address):
    world = World(address=address)
    assert reason(verify_contract, world.note, world.pins, ANY) == "address-malformed"


def key_of(text, suite=SUITE):
    return suite.configuration(secret(text) * (suite.private_bytes // 32))


KEYS = tuple(SUITE.configuration(private) for private in WORLD.private)
NO_KEY = KEYS[0][:3] + bytes(32) + KEYS[0][35:]
SHEETS = {
    "of another contract": ({"contract": "0" * 64}, "other-contract"),
    "past the collections": ({"number": 4}, "round-out-of-range"),
    "a key too few": ({"keys": KEYS[:2]}, "keys-miscounted"),
    "a key too many": ({"keys": (*KEYS, key_of("more"))}, "keys-miscounted"),
    "no keys": ({"keys": ()}, "keys-miscounted"),
    "one key for two": ({"keys": (KEYS[0], KEYS[1], KEYS[0])}, "key-twice"),
    "a key of another suite": (
        {"keys": (key_of("lattice", SUITES[2]), *KEYS[1:])}, "key-configuration",
    ),
    "a key that is cut": ({"keys": (KEYS[0][:-1], *KEYS[1:])}, "key-configuration"),
    "a key that hides nothing": ({"keys": (NO_KEY, *KEYS[1:])}, "key-configuration"),
    "open for too long": ({"closes": NOW + OPEN + 1}, "times-out-of-range"),
    "open for too short": ({"closes": NOW + OPEN - 1}, "times-out-of-range"),
    "expires too late": ({"expires": NOW + OPEN + 10_000_001}, "times-out-of-range"),
    "not open yet": ({"opens": NOW + 1}, "round-not-open"),
    "just over": ({"opens": NOW - OPEN}, "round-over"),
    "long over": ({"opens": NOW - 10 * OPEN}, "round-over"),
    "number zero": ({"number": 0}, "round-out-of-range"),
    "times turned round": ({"closes": NOW - 1}, "times-out-of-range"),
    "prefixes that nobody asked": ({"prefixes": ((1,),)}, "prefixes-not-asked"),
    "closing without words": ({"closing": True}, "prefixes-not-asked"),
    "a mix did not sign": ({"signers": [MIX, COLLECTOR]}, "signature-missing"),
    "the collector did not sign": ({"signers": [MIX, SECOND]}, "signature-missing"),
    "nobody signed": ({"signers": []}, "signature-missing"),
    "somebody signed for a mix": (
        {"signers": [STRANGER, SECOND, COLLECTOR]}, "signature-missing",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SHEETS)
def test_a_sheet_is_refused(name):
    changes, why = SHEETS[name]
    note = WORLD.sheet(**changes)
    assert reason(open_round, WORLD.trusted(), note, NOW) == why


def test_the_last_and_the_first_second_of_a_round_are_in_it():
    note = WORLD.sheet()
    for now in (NOW, NOW + OPEN - 1):
        assert open_round(WORLD.trusted(), note, now)
    assert reason(open_round, WORLD.trusted(), note, NOW - 1) == "round-not-open"
    assert reason(open_round, WORLD.trusted(), note, NOW + OPEN) == "round-over"


def test_a_contract_in_place_of_a_sheet_is_refused():
    assert reason(open_round, WORLD.trusted(), WORLD.note, NOW) == "unknown-version"


def test_a_sheet_that_was_altered_below_its_signatures_is_refused():
    note = WORLD.sheet().replace(b'"round": 1', b'"round": 2')
    assert reason(open_round, WORLD.trusted(), note, NOW) == "signature-false"


WORDS = Prefixes(alphabet="abc", most=2, longest=3)


@pytest.mark.parametrize(
    ("prefixes", "why"),
    [
        (((1,), (1,)), "prefix-twice"),
        (((1,), (2,), (3,)), "prefixes-miscounted"),
        (((9,),), "prefix-symbol"),
        (((1, 1, 1),), "prefix-length"),
    ],
)
def test_prefixes_that_do_not_fit_are_refused_before_anything_is_asked(prefixes, why):
    part = contracts.shaped(WORDS.bins)
    plan = contracts.plan_of(Question(name="w", bins=WORDS.bins), [part], prefixes=WORDS)
    world = World(plan)
    assert open_round(world.trusted(), world.sheet(prefixes=((1,), (2,))), NOW)
    note = world.sheet(prefixes=prefixes)
    assert reason(open_round, world.trusted(), note, NOW) == why


def test_any_byte_that_changes_is_refused_or_changes_nothing_that_is_read():
    """Five hundred notes with one byte changed: of those that pass, the text is the same."""
    chance, agreed = random.Random(1), WORLD.trusted()
    notes = {"contract": WORLD.note, "sheet": WORLD.sheet()}
    for kind, note in notes.items():
        for _ in range(250):
            place, value = chance.randrange(len(note)), chance.randrange(256)
            changed = note[:place] + bytes([value]) + note[place + 1 :]
            try:
                if kind == "contract":
                    assert verify_contract(changed, WORLD.pins, ANY) == agreed
                else:
                    assert open_round(agreed, changed, NOW)[:3] == open_round(agreed, note, NOW)[:3]
            except RefusedError:
                continue


def test_plan_and_question_are_known_again():
    same = World(by_mixes(), name="another", team="x-")
    other = World(by_mixes(question=Question(name="opinion", bins=4, labels=LABELS[::-1])))
    mine = WORLD.trusted()
    assert (same.trusted().plan, same.trusted().question) == (mine.plan, mine.question)
    assert other.trusted().question != mine.question
    fewer = World(by_mixes(collections=2)).trusted()
    assert (fewer.question, fewer.plan != mine.plan) == (mine.question, True)
    assert ASKED.name == mine.contract.plan.question.name


def test_a_device_and_a_role_derive_the_same_limits_of_a_round():
    """Both know how many bundles and messages there can be, each from its own contract."""
    chance, kinds = random.Random(1), set()
    for _ in range(60):
        made = contracts.random_contract(chance)
        read = parse_contract(write_contract(made))
        assert frame_of(read) == rules.frame_of(agreement_of(made, read.fingerprint, 1))
        kinds |= {part.recipe.kind for part in read.plan.parts}
    assert kinds >= {"none", "shaped", "gaussian", "paired", "blanks", "uniform"}

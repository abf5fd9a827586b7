"""Whatever bytes come, a parser reads them or refuses them by name: nothing else comes out."""

import json
import random

import pytest

from helpers import contracts
from helpers.sampled import exhaustive
from mixtally.device.client.net.pins import read_trust
from mixtally.device.contract.contract import parse_contract
from mixtally.device.contract.fields import fingerprint_of, text_of
from mixtally.device.wire.bundle import PartShape, check_body, part_envelopes, split_bundles
from mixtally.device.wire.envelope import Opener
from mixtally.device.wire.manifest import (
    Receipt,
    read_manifest,
    read_receipt,
    write_manifest,
    write_receipt,
)
from mixtally.device.wire.note import Signer, find_signers, merge_notes, parse_signer, sign_note
from mixtally.device.wire.round import verify_round, verify_sheet
from mixtally.device.wire.sheet import (
    kind_of,
    read_sheet,
    read_withdrawal,
    write_sheet,
    write_withdrawal,
)
from mixtally.device.wire.suite import SUITES
from mixtally.errors import DataError, InputError, PlanError, RefusedError
from mixtally.model.contract import read_contract, write_contract
from mixtally.model.contract.job import job_of
from mixtally.model.job import read_job, write_job
from mixtally.server.node.peers import parse_listing
from wire.bending import bent, restated
from wire.builders import HASH, frame, manifest, private, sheet

SIGNER = Signer("mix-1", bytes(32))
KNOWN = {"mix-1": SIGNER.public}
SHAPES = (PartShape(2, 1, 3), PartShape(1, 0, 2))
CONTRACTS = [contracts.random_contract(random.Random(seed)) for seed in range(4)]
SHEET = sign_note(write_sheet(sheet()), SIGNER)
NOTES = [
    SHEET,
    sign_note(write_sheet(sheet(prefixes=((1, 2), (3, 4)))), SIGNER),
    sign_note(write_manifest(manifest(sheet=fingerprint_of(SHEET))), SIGNER),
    write_manifest(manifest(hop=2, destroyed="expired", before=None, parts=())),
    sign_note(write_receipt(Receipt(HASH, 2)), SIGNER),
    sign_note(write_withdrawal(HASH), SIGNER),
    *(sign_note(write_contract(one), SIGNER) for one in CONTRACTS),
    *(write_job(job_of(one, HASH, 1)) for one in CONTRACTS[:2]),
    json.dumps([write_sheet(sheet()).decode(), "x"]).encode(),
]
TRUST = f"""fingerprint = "{HASH}"
keys = ["{SIGNER.verifier}"]
[limits]
epsilon = 1.0
hops = 2
protocols = ["flip"]
[budget]
epsilon = 3
delta = 1e-5
"""
SEEDS = [
    *NOTES,
    SIGNER.private_key_text.encode(),
    TRUST.encode(),
    b"abcdefgh",
    *(SUITES[suite].configuration(private(0, suite)) for suite in SUITES),
]


def parsers():
    """Everything that reads what strangers send, and how it refuses."""
    for each in (
        read_sheet,
        read_withdrawal,
        read_manifest,
        read_receipt,
        kind_of,
        text_of,
        fingerprint_of,
        parse_contract,
    ):
        yield f"{each.__module__.rpartition('.')[2]}.{each.__name__}", each, RefusedError
    yield "signed_by", lambda data: find_signers(data, KNOWN), RefusedError
    yield "signed_sheet", lambda data: verify_sheet(data, KNOWN, frame()), RefusedError
    yield "signed_round", rounded, RefusedError
    yield "joined", lambda data: merge_notes(text_of(data), [data], KNOWN), RefusedError
    yield "signed", lambda data: find_signers(sign_note(data, SIGNER), KNOWN), RefusedError
    yield "split", taken_apart, RefusedError
    yield "listed", parse_listing, RefusedError
    yield "signer_of", lambda data: parse_signer(data.decode("latin-1")), PlanError
    yield "read_contract", lambda data: read_contract(data, "contract"), InputError
    yield "read_job", lambda data: read_job(data, "job"), PlanError
    yield "read_trust", lambda data: read_trust(data, "trust"), DataError
    for number, suite in SUITES.items():
        opener = Opener(suite, private(0, number), bytes(32), 1)
        yield f"key {number}", suite.key, RefusedError
        yield f"open {number}", lambda data, opener=opener: opener.open(data, 0), RefusedError


def rounded(data):
    return verify_round(SHEET, [data], [], KNOWN, frame())


def taken_apart(data):
    check_body(data, SHAPES)
    parts = range(len(SHAPES))
    return [
        [part_envelopes(one, SHAPES, part) for part in parts] for one in split_bundles(data, SHAPES)
    ]


PARSERS = {name: (each, errors) for name, each, errors in parsers()}


def outcome(name, data):
    """Whether it was read; whatever is no refusal comes out."""
    each, errors = PARSERS[name]
    try:
        each(data)
    except errors as error:
        no = str(error)
    else:
        return True
    assert no.isprintable()
    assert len(no) < 2000
    return False


def tried(name, seed, count):
    """How many of so many bent inputs were read; what comes out names its seed and place."""
    chance, taken = random.Random(f"{seed} {name}"), 0
    for place in range(count):
        data = restated(chance, NOTES) if chance.random() < 0.3 else bent(chance, SEEDS)
        try:
            taken += outcome(name, data)
        except Exception as error:
            raise AssertionError(f"seed {seed}, input {place} of {name}: {data[:300]!r}") from error
    return taken


@pytest.mark.parametrize("name", PARSERS)
def test_a_parser_reads_or_refuses(name):
    tried(name, 1, 100)
    assert any(outcome(name, data) for data in SEEDS)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, *exhaustive([None])])
def test_parsers_read_or_refuse_for_long(seed):
    """The sample is fixed; the exhaustive case is a new one each time."""
    count = 2_500
    if seed is None:
        seed, count = random.SystemRandom().randrange(1 << 32), 10_000
    taken = {name: tried(name, seed, count) for name in PARSERS}
    assert sum(many > 0 for many in taken.values()) > len(PARSERS) / 2, (seed, taken)


@pytest.mark.parametrize("error", [KeyError, RecursionError, OverflowError])
def test_a_parser_with_a_planted_bug_is_noticed(monkeypatch, error):
    def careless(data):
        if b'"round": ' in data:
            raise error

    monkeypatch.setitem(PARSERS, "careless", (careless, RefusedError))
    with pytest.raises(AssertionError, match=r"seed 1, input \d+ of careless"):
        tried("careless", 1, 300)

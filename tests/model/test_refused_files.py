"""Files of plans and contracts that are refused, each for its own reason, by records and devices.

Every case is a file that is taken, with something else in one place.
"""

import copy
import json
import math

import pytest

from helpers.contracts import (
    SEED,
    contract_of,
    flipped,
    network,
    over_planes,
    plan_of,
    shaped,
    uniform,
)
from mixtally.device import client
from mixtally.errors import PlanError, RefusedError
from mixtally.model.contract import (
    FakeRecord,
    OwnFakes,
    Prefixes,
    read_contract,
    read_plan,
    write_contract,
    write_plan,
)
from mixtally.model.hashing import HMAC_SHA256, Hashing
from mixtally.model.layout import Form
from mixtally.model.question import Kind, Question, make_attributes_question

BLANK = OwnFakes(FakeRecord.BLANK, 1, 1 << 60)
LABELS = ("apple", "pear", "plum")
PREFIXES = Prefixes(alphabet="abc", most=2, longest=4)
HASHED = Hashing(function=HMAC_SHA256, seed=SEED)
BASES = {
    "people": plan_of(Question(name="q", bins=3, labels=LABELS), [flipped(3, own=BLANK)]),
    "clear": plan_of(Question(name="q", bins=3), [uniform(3)]),
    "shaped": plan_of(Question(name="q", bins=3), [shaped(3)]),
    "blanks": plan_of(Question(name="q", bins=3), [flipped(3, blanks=5)]),
    "capped": plan_of(Question(name="q", bins=80), [flipped(80, cap=20, form=Form.POSITIONS)]),
    "set": plan_of(
        Question(name="q", bins=9, kind=Kind.SET, max_set=2), [flipped(9, most_set=2, blanks=5)]
    ),
    "bits": plan_of(Question(name="q", bins=4, kind=Kind.BITS), [flipped(4, most_set=None)]),
    "two": plan_of(
        make_attributes_question("q", (3, 4)), [flipped(3, own=BLANK), flipped(4, own=BLANK)]
    ),
    "edges": plan_of(Question(name="q", bins=3), [uniform(3)], edges=(0.0, 1.0, 2.0, 5.0)),
    "prefixes": plan_of(
        Question(name="q", bins=PREFIXES.bins), [uniform(PREFIXES.bins)], prefixes=PREFIXES
    ),
    "hashed": plan_of(Question(name="q", bins=49, hashed=HASHED), [over_planes(49, 7)]),
    "planes": plan_of(Question(name="q", bins=50), [over_planes(50, 7)]),
    "drawn": plan_of(Question(name="q", bins=50), [over_planes(50, 7, drawn=9)]),
}
GONE, HALF = object(), str(1 << 63)
PLANS = {
    "an earlier version": ("people", "version", 5, "unknown-version"),
    "a later version": ("people", "version", 7, "unknown-version"),
    "a version that is none": ("people", "version", True, "wrong-type"),
    "a version in words": ("people", "version", "6", "integer-as-string"),
    "a field more": ("people", "color", 1, "field-unknown"),
    "a field more of the question": ("people", "question.color", 1, "field-unknown"),
    "a field more of a part": ("people", "parts.0.color", 1, "field-unknown"),
    "a field more of the certificate": ("people", "certificate.color", 1, "field-unknown"),
    "no question": ("people", "question", GONE, "field-missing"),
    "no hops": ("people", "hops", GONE, "field-missing"),
    "no layout": ("people", "parts.0.layout", GONE, "field-missing"),
    "an unknown kind": ("people", "question.kind", "many", "unknown-kind"),
    "one bin": ("clear", "question.bins", 1, "bins-out-of-range"),
    "too many free bits": ("bits", "question.bins", 65, "bins-out-of-range"),
    "sets of nothing": ("set", "question.max_set", 0, "max-set-out-of-range"),
    "sets of more than all": ("set", "question.max_set", 10, "max-set-out-of-range"),
    "attributes of one value": ("two", "question.attributes", [1, 6], "attributes-unfit"),
    "attributes of other bins": ("two", "question.attributes", [3, 5], "attributes-unfit"),
    "a label less": ("people", "question.labels", ["a", "b"], "labels-miscounted"),
    "a label twice": ("people", "question.labels", ["a", "b", "b"], "label-twice"),
    "a label in two forms": ("people", "question.labels", ["a", "ä", "a\u0308"], "label-twice"),
    "a label that is empty": ("people", "question.labels", ["a", "b", ""], "label-empty"),
    "a label that colors": (
        "people", "question.labels", ["a", "b", "\x1b[2J"], "control-character-in-label",
    ),
    "a label that is read backwards": (
        "people", "question.labels", ["a", "b", "\u202ec"], "control-character-in-label",
    ),
    "a name that isolates": ("people", "question.name", "\u2066q", "control-character-in-name"),
    "a name that colors": ("people", "question.name", "\x1b[2J", "control-character-in-name"),
    "a name that is none": ("people", "question.name", 7, "wrong-type"),
    "labels of hashed bins": (
        "hashed", "question.labels", [str(i) for i in range(49)], "hashed-with-labels",
    ),
    "an unknown hash": ("hashed", "question.hashed.function", "MD5", "unknown-hash"),
    "a seed too short": ("hashed", "question.hashed.seed", "00", "seed-malformed"),
    "a grid of exchanged ends": ("edges", "grid", {"low": 1, "high": 0, "points": 3}, "grid-ends"),
    "a grid of one number": ("edges", "grid", {"low": 1, "high": 1, "points": 3}, "grid-ends"),
    "a grid of other points": ("edges", "grid", {"low": 0, "high": 1, "points": 4}, "grid-points"),
    "a grid of one point": ("edges", "grid", {"low": 0, "high": 1, "points": 1}, "grid-points"),
    "a grid beside edges": (
        "edges", "grid", {"low": 0, "high": 1, "points": 3}, "several-encoders"
    ),
    "a domain that is counted": ("hashed", "question.hashed.values", 49, "field-unknown"),
    "an open domain of bins": ("hashed", "parts.0.planes", None, "layout-bins"),
    "an open domain of fewer points": ("hashed", "question.bins", 48, "hashed-without-planes"),
    "an open domain that is huge": ("hashed", "question.bins", str(1 << 63), "bins-out-of-range"),
    "a prime of one": ("planes", "parts.0.planes.prime", 1, "prime-out-of-range"),
    "a prime that is huge": ("planes", "parts.0.planes.prime", 2**31 + 11, "prime-out-of-range"),
    "a prime that is none": ("planes", "parts.0.planes.prime", 9, "not-prime"),
    "one digit": ("planes", "parts.0.planes.digits", 1, "digits-out-of-range"),
    "a digit less": ("planes", "parts.0.planes.digits", 2, "bins-out-of-range"),
    "a digit more": (
        "planes", "parts.0",
        {"planes": {"prime": 7, "digits": 4},
         "layout": {"form": "index", "bins": 2800, "cap": None}},
        "digits-unfit",
    ),
    "a prime above all bins": (
        "planes", "parts.0",
        {"planes": {"prime": 53, "digits": 2},
         "layout": {"form": "index", "bins": 2862, "cap": None}},
        "digits-unfit",
    ),
    "planes that are too many": (
        "planes", "parts.0.planes", {"prime": 9_999_991, "digits": 6}, "planes-too-many",
    ),
    "planes of flips": (
        "people", "parts.0",
        {"planes": {"prime": 2, "digits": 2},
         "layout": {"form": "bits", "bins": 6, "cap": None}},
        "planes-flipped",
    ),
    "planes of other messages": ("planes", "parts.0.layout.bins", 343, "layout-bins"),
    "planes among shaped fakes": (
        "planes", "parts.0", {"own": None, "recipe": {"type": "shaped", "ratio": 5, "shift": 1}},
        "planes-among-shaped",
    ),
    "no uniform messages": ("drawn", "parts.0.recipe.count", 0, "count-out-of-range"),
    "edges that fall": ("edges", "edges", [0, 2, 1, 5], "no-scale"),
    "an edge less": ("edges", "edges", [0, 1, 2], "no-scale"),
    "an edge in words": ("edges", "edges", [0, 1, 2, "5"], "wrong-type"),
    "a character twice": ("prefixes", "prefixes.alphabet", "aba", "alphabet-unfit"),
    "no prefixes at all": ("prefixes", "prefixes.most", 0, "prefixes-out-of-range"),
    "prefixes of other bins": ("prefixes", "prefixes.most", 3, "prefixes-bins"),
    "two ways to a bin": ("hashed", "edges", list(range(50)), "several-encoders"),
    "an epsilon of nothing": ("people", "guarantee.epsilon", 0, "epsilon-out-of-range"),
    "an epsilon that is huge": ("people", "guarantee.epsilon", 21, "epsilon-out-of-range"),
    "a delta of half": ("people", "guarantee.delta", 0.5, "delta-out-of-range"),
    "another observer promised": ("people", "guarantee.observer", "linked", "unknown-observer"),
    "another observer proved": ("people", "certificate.observer", "sums", "unknown-observer"),
    "what is believed": ("people", "certificate.status", "believed", "not-proved"),
    "a promise at another epsilon": ("people", "certificate.epsilon", 1.5, "other-epsilon"),
    "a promise that is not kept": ("people", "guarantee.delta", 0.01, "proved-above-promise"),
    "a bound above the upper one": ("people", "certificate.lower", 0.2, "bounds-out-of-range"),
    "a bound above one": ("people", "certificate.upper", 1.5, "bounds-out-of-range"),
    "one person": ("people", "users", 1, "users-out-of-range"),
    "people in words": ("people", "users", "1000", "integer-as-string"),
    "people in fractions": ("people", "users", 1000.5, "wrong-type"),
    "a crowd of nobody": ("people", "minimum_crowd", 0, "minimum-crowd-out-of-range"),
    "a crowd of more than all": ("people", "minimum_crowd", 2000, "minimum-crowd-above-users"),
    "no honest share": ("people", "honest_share", 0.0, "honest-share-out-of-range"),
    "a share above one": ("people", "honest_share", 1.5, "honest-share-out-of-range"),
    "one honest person": ("people", "honest_share", 0.001, "too-few-honest"),
    "no collection": ("people", "collections", 0, "collections-out-of-range"),
    "no mix": ("people", "hops", 0, "hops-out-of-range"),
    "six mixes": ("people", "hops", 6, "hops-out-of-range"),
    "a cover by nobody": ("people", "cover", "nobody", "unknown-cover"),
    "the cover of others": ("people", "cover", "every mix", "cover-unfit"),
    "flips beside mixes": ("blanks", "count_flips", True, "flips-beside-mixes"),
    "a local epsilon below none": ("people", "local_epsilon", -1.0, "local-epsilon-out-of-range"),
    "no part": ("people", "parts", [], "parts-unfit"),
    "a part too few": ("two", "parts.1", GONE, "parts-unfit"),
    "a part of other records": ("set", "parts.0.most_set", 1, "parts-unfit"),
    "a set in clear": ("set", "question.kind", "one", "max-set-out-of-range"),
    "a layout of other bins": ("people", "parts.0.layout.bins", 4, "layout-bins"),
    "an unknown form": ("people", "parts.0.layout.form", "words", "unknown-form"),
    "positions without a cap": ("capped", "parts.0.layout.cap", None, "cap-missing"),
    "a cap of nothing": ("capped", "parts.0.layout.cap", 0, "cap-below-one"),
    "a cap of more than all": ("capped", "parts.0.layout.cap", 81, "cap-too-large"),
    "a cap below a record": ("bits", "parts.0.layout.cap", 3, "cap-below-record"),
    "a cap of one bin": ("clear", "parts.0.layout.cap", 1, "cap-with-index"),
    "flips as one bin": ("people", "parts.0.layout.form", "index", "flips-as-index"),
    "one bin as bits": ("clear", "parts.0.layout.form", "bits", "clear-not-index"),
    "flips that tell nothing": ("people", "parts.0.threshold", HALF, "threshold-half"),
    "hardly a flip": ("people", "parts.0.threshold", 1000, "threshold-out-of-range"),
    "flips as a number": ("people", "parts.0.threshold", 1 << 60, "integer-as-number"),
    "flips as a fraction": ("people", "parts.0.threshold", 0.1, "wrong-type"),
    "an unknown fake": ("people", "parts.0.own.record", "odd", "unknown-fake"),
    "too many fakes": ("people", "parts.0.own.whole", 1001, "own-fakes-out-of-range"),
    "a coin below nothing": ("people", "parts.0.own.coin", -1, "coin-below-zero"),
    "a coin above one": ("people", "parts.0.own.coin", str(1 << 64), "coin-too-large"),
    "no fake at all": (
        "people", "parts.0.own", {"record": "blank", "whole": 0, "coin": 0}, "own-fakes-none",
    ),
    "uniform fakes of sets": (
        "set", "parts.0",
        {"own": {"record": "uniform", "whole": 1, "coin": 0}, "recipe": {"type": "none"}},
        "uniform-fakes-unfit",
    ),
    "an unknown recipe": ("shaped", "parts.0.recipe.type", "odd", "unknown-recipe"),
    "a shape without its shift": ("shaped", "parts.0.recipe.shift", GONE, "field-missing"),
    "a shape of no fakes": ("shaped", "parts.0.recipe.shift", 0, "shift-out-of-range"),
    "a shape that does not fall": (
        "shaped", "parts.0.recipe.ratio", str(1 << 64), "ratio-out-of-range",
    ),
    "no blanks": ("blanks", "parts.0.recipe.count", 0, "count-out-of-range"),
    "blanks flipped otherwise": (
        "blanks", "parts.0.recipe.threshold", str(1 << 59), "recipe-unfit",
    ),
    "two covers": (
        "blanks", "parts.0.own", {"record": "blank", "whole": 1, "coin": 0}, "two-covers",
    ),
    "a bin in clear among none": ("clear", "parts.0.own", None, "clear-uncovered"),
    "a bin in clear among blanks": ("clear", "parts.0.own.record", "blank", "clear-uncovered"),
    "free bits among fakes": (
        "bits", "parts.0.own", {"record": "blank", "whole": 1, "coin": 0}, "free-bits-among-fakes",
    ),
    "no repeat": ("bits", "parts.0.repeats", 0, "repeats-out-of-range"),
    "repeats among fakes": ("people", "parts.0.repeats", 2, "repeats-unfit"),
}  # fmt: skip
NETWORK = network(2)[0][0]
CONTRACTS = {
    "an earlier version of a contract": ("version", 2, "unknown-version"),
    "a later version of a contract": ("version", 6, "unknown-version"),
    "a quota below the crowd": ("most_bundles", 1, "most-bundles-out-of-range"),
    "a quota of text": ("most_bundles", "all", "wrong-type"),
    "no quota": ("most_bundles", GONE, "field-missing"),
    "a contract with a field more": ("color", 1, "field-unknown"),
    "terms for a plan": ("plan", GONE, "field-missing"),
    "a name in capitals": ("name", "Home", "name-malformed"),
    "serial 0": ("serial", 0, "serial-out-of-range"),
    "a hop too few": ("hops.1", GONE, "more-drawing-mixes-than-hops"),
    "a plan of fewer hops": ("plan.hops", 1, "more-hops-than-priced"),
    "a hop twice": ("hops.1.name", NETWORK.name, "key-malformed"),
    "an address twice": ("hops.1.address", NETWORK.address, "hop-twice"),
    "a hop without a lock": ("hops.0.address", "http://mix.example", "address-malformed"),
    "a hop without a name": ("hops.0.name", "", "role-name-malformed"),
    "a hop of nobody": ("hops.0.operator", "", "operator-malformed"),
    "a key that is none": ("hops.0.key", "mix-1+00000000+AAAA", "key-malformed"),
    "an unknown suite": ("suite", 3, "unknown-suite"),
    "envelopes of other bytes": ("envelope_bytes.0.0", 1, "envelope-bytes"),
    "a round that is longer": ("rounds.open_seconds", 86_401, "rounds-out-of-range"),
    "friends alone": ("admission", "friends", "unknown-admission"),
    "a file without a hash": (
        "client_files",
        [{"path": "a.py", "sha256": "00"}],
        "client-files-malformed",
    ),
}


def put(tree, path, value):
    """A copy of plain data with ``value`` at ``path``: no field there, or fields put over it."""
    *steps, last = [int(step) if step.isdecimal() else step for step in path.split(".")]
    found = holder = copy.deepcopy(tree)
    for step in steps:
        holder = holder[step]
    if value is GONE:
        del holder[last]
    elif isinstance(value, dict) and isinstance(last, int):
        holder[last] |= value
    else:
        holder[last] = value
    return found


def reason_of(plain):
    """Why a device refuses a contract."""
    with pytest.raises(RefusedError) as caught:
        client.parse_contract(json.dumps(plain).encode())
    return caught.value.reason


def test_there_are_many_cases_and_all_begin_with_what_is_taken():
    assert len(PLANS) + len(CONTRACTS) >= 100
    for plan in BASES.values():
        assert read_plan(write_plan(plan), "p.json") == plan
        assert client.parse_contract(write_contract(contract_of(plan)))


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_is_refused_wherever_it_stands(name):
    base, path, value, reason = PLANS[name]
    plan = put(json.loads(write_plan(BASES[base])), path, value)
    with pytest.raises(PlanError, match=r"^p\.json: expected a plan that this version reads"):
        read_plan(json.dumps(plan).encode(), "p.json")
    contract = json.loads(write_contract(contract_of(BASES[base]))) | {"plan": plan}
    assert reason_of(contract) == reason
    with pytest.raises(PlanError, match=r"^c\.json: expected a contract that this version reads"):
        read_contract(json.dumps(contract).encode(), "c.json")


@pytest.mark.parametrize("name", CONTRACTS)
def test_a_contract_is_refused(name):
    path, value, reason = CONTRACTS[name]
    contract = put(json.loads(write_contract(contract_of(BASES["people"]))), path, value)
    assert reason_of(contract) == reason
    with pytest.raises(PlanError, match=r"^c\.json: expected a contract that this version reads"):
        read_contract(json.dumps(contract).encode(), "c.json")


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5])
def test_another_version_is_told_whatever_else_the_file_holds(version):
    """What a version before wrote has other fields: not they are what is wrong with it."""
    tree = json.loads(write_plan(BASES["people"]))
    tree |= {"version": version, "mechanism": {"type": "bit-flips"}, "protocol": "flip-blank"}
    del tree["parts"]
    with pytest.raises(PlanError, match=rf"plan\.version: expected .*6.*, got {version}"):
        read_plan(json.dumps(tree).encode(), "old.json")


def test_a_contract_of_the_version_before_is_told_by_its_version():
    """Its files were an object."""
    tree = json.loads(write_contract(contract_of(BASES["people"])))
    tree |= {"version": 4, "client_files": {}}
    with pytest.raises(PlanError, match=r"contract\.version: expected .*5.*, got 4"):
        read_contract(json.dumps(tree).encode(), "old.json")


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"null", b'"plan"', b"\xff", b'{"users": 1, "users": 2}', b"[" * 100_000],
    ids=["empty", "open", "list", "null", "text", "bytes", "twice", "deep"],
)
def test_what_is_no_json_of_a_plan_is_refused(data):
    with pytest.raises(PlanError, match=r"^p\.json: expected a plan"):
        read_plan(data, "p.json")


@pytest.mark.parametrize("keep", [0, 1, 100, -2, -100])
def test_a_plan_cut_short_is_refused(keep):
    with pytest.raises(PlanError):
        read_plan(write_plan(BASES["people"])[:keep], "p.json")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_what_is_no_number_is_refused(number):
    data = write_plan(BASES["people"])
    odd = data.replace(b'"local_epsilon": null', f'"local_epsilon": {number}'.encode())
    assert odd != data
    assert not math.isfinite(json.loads(odd)["local_epsilon"])
    with pytest.raises(PlanError):
        read_plan(odd, "p.json")

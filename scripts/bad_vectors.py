"""The negative test vectors: contracts, values and limits that a client must refuse.

``make_vectors.py`` writes them. Each vector has the name of the expected refusal (SPEC.md).
"""

import json
import math
from collections import Counter
from typing import Any

from helpers import contracts as c
from mixtally.device import client
from mixtally.device.contract.planes import Planes
from mixtally.errors import RefusedError
from mixtally.model.contract import (
    FakeRecord,
    OwnFakes,
    Plan,
    Prefixes,
    format_verifier_key,
    write_contract,
)
from mixtally.model.grid import Grid
from mixtally.model.hashing import HMAC_SHA256, Hashing
from mixtally.model.layout import Form
from mixtally.model.question import Kind, Question, make_attributes_question

GONE = object()
"""In place of a field's value: the field is left out."""
SCALE = 1 << 64
PART, OWN, RECIPE = "plan.parts.0", "plan.parts.0.own", "plan.parts.0.recipe"
LAYOUT, ASKED, PROOF = "plan.parts.0.layout", "plan.question", "plan.certificate"
PLANES = "plan.parts.0.planes"
SAME_KEY = format_verifier_key("mix-2", c.role("mix-1").public)
"""The second hop's name with the first hop's public key."""
MISTYPED = c.role("mix-1").key[:-1] + "A"
"""A key that does not match its hash."""


def bases() -> dict[str, Plan]:
    """Return valid contracts, one of each kind, by name."""
    own, uniform = OwnFakes(FakeRecord.BLANK, 1, 5), OwnFakes(FakeRecord.UNIFORM, 1, 5)

    def one(bins: int, **more: Any) -> Question:
        return Question(name="q", bins=bins, **more)

    several = Question(name="q", bins=9, kind=Kind.SET, max_set=2)
    free, spelled = Question(name="q", bins=3, kind=Kind.BITS), Prefixes(
        alphabet="abc", most=2, longest=3
    )  # fmt: skip
    hashed = Hashing(function=HMAC_SHA256, seed=c.SEED)
    return {
        "labels": c.proved(c.plan_of(one(3, labels=("a", "b", "c")), [c.shaped(3)])),
        "clear": c.plan_of(one(4), [c.uniform(4, whole=1)]),
        "flips": c.plan_of(one(9), [c.flipped(9, own=own)], local_epsilon=4.5),
        "uniform": c.plan_of(one(9), [c.flipped(9, own=uniform)], count_flips=True),
        "crowd": c.plan_of(one(9), [c.flipped(9)]),
        "replaced": c.plan_of(one(9), [c.replaced(9, own=uniform)]),
        "blanks": c.plan_of(one(9), [c.flipped(9, blanks=40)]),
        "positions": c.plan_of(one(9), [c.flipped(9, own=own, form=Form.POSITIONS, cap=4)]),
        "set": c.plan_of(several, [c.flipped(9, most_set=2, own=own, cap=5)]),
        "set-clear": c.plan_of(several, [c.uniform(9, whole=1, most_set=2)]),
        "slots": c.plan_of(several, [c.sampled(9, 2)]),
        "slots-bits": c.plan_of(free, [c.sampled(6, 3, full=True)]),
        "set-planes": c.plan_of(
            one(40, kind=Kind.SET, max_set=2), [c.over_planes(40, 5, most_set=2)]
        ),
        "set-shaped": c.plan_of(several, [c.gaussian(9, most_set=2)]),
        "traits": c.plan_of(make_attributes_question("q", (2, 3)), [c.shaped(2), c.shaped(3)]),
        "bits": c.plan_of(free, [c.flipped(3, most_set=None)]),
        "bell": c.plan_of(one(4), [c.gaussian(4)]),
        "pair": c.proved(c.plan_of(one(2), [c.paired()])),
        "pair-bell": c.plan_of(one(2), [c.paired_gaussian()]),
        "edges": c.plan_of(one(3), [c.shaped(3)], edges=(0.0, 1.0, 2.0, 3.5)),
        "grid": c.plan_of(one(4), [c.shaped(4)], grid=Grid(low=0.0, high=1.0, points=4)),
        "hashed": c.plan_of(one(49, hashed=hashed), [c.over_planes(49, 7)]),
        "texts": c.plan_of(
            one(7**22, kind=Kind.SET, max_set=3, hashed=hashed),
            [c.over_planes(7**22, 7, most_set=3)],
        ),
        "planes": c.plan_of(one(40), [c.over_planes(40, 5)]),
        "drawn": c.plan_of(one(40), [c.over_planes(40, 5, drawn=9)]),
        "prefixes": c.plan_of(one(11), [c.shaped(11)], prefixes=spelled),
    }


CONTRACTS: list[tuple[str, str, dict[str, Any]]] = [
    ("field-missing", "labels", {"suite": GONE}),
    ("field-missing", "flips", {f"{LAYOUT}.cap": GONE}),
    ("field-unknown", "labels", {"plan.more": 1}),
    ("field-unknown", "labels", {f"{RECIPE}.count": 1}),
    ("wrong-type", "labels", {"plan.hops": 2.0}),
    ("wrong-type", "labels", {"plan.count_flips": 0}),
    ("wrong-type", "labels", {"plan.guarantee.epsilon": "1"}),
    ("wrong-type", "labels", {"serial": True}),
    ("wrong-type", "labels", {f"{ASKED}.labels": "abc"}),
    ("integer-as-number", "flips", {f"{PART}.threshold": 1 << 60}),
    ("integer-as-string", "labels", {"plan.users": "1000"}),
    ("integer-as-string", "flips", {f"{PART}.threshold": "01152921504606846976"}),
    ("integer-as-string", "flips", {f"{OWN}.coin": str(1 << 53)}),
    ("unknown-version", "labels", {"version": 4, "client_files": {}}),
    ("unknown-version", "labels", {"version": 6, "new": []}),
    ("unknown-version", "labels", {"plan.version": 5, "plan.parts": GONE}),
    ("name-malformed", "labels", {"name": "Home"}),
    ("serial-out-of-range", "labels", {"serial": 0}),
    ("more-drawing-mixes-than-hops", "labels", {"hops.1": GONE}),
    ("more-hops-than-priced", "labels", {"plan.hops": 1}),
    ("hop-twice", "labels", {"hops.1.address": "http://127.0.0.1:7001"}),
    ("hop-twice", "labels", {"collector.address": "http://127.0.0.1:7002"}),
    ("hop-twice", "labels", {"hops.1.key": SAME_KEY}),
    ("role-name-malformed", "labels", {"hops.0.name": "mix 1"}),
    ("address-malformed", "labels", {"hops.0.address": "http://example.org"}),
    ("address-malformed", "labels", {"hops.0.address": "http://localhost.example.org"}),
    ("address-malformed", "labels", {"hops.0.address": "http://127.0.0.1:80@example.org"}),
    ("key-malformed", "labels", {"hops.0.name": "mix-9"}),
    ("key-malformed", "labels", {"hops.0.key": MISTYPED}),
    ("operator-malformed", "labels", {"collector.operator": "a\u202eb"}),
    ("unknown-suite", "labels", {"suite": 3}),
    ("envelope-bytes", "labels", {"envelope_bytes": [[145, 97, 48]]}),
    ("envelope-bytes", "labels", {"suite": 2}),
    ("rounds-out-of-range", "labels", {"rounds.open_seconds": 86401}),
    ("most-bundles-out-of-range", "labels", {"most_bundles": 999}),
    ("most-bundles-out-of-range", "labels", {"most_bundles": 100_001}),
    ("unknown-admission", "labels", {"admission": "friends"}),
    ("wrong-type", "labels", {"client_files": {}}),
    ("field-unknown", "labels", {"client_files": [{"path": "a", "sha256": "0" * 64, "size": 1}]}),
    *(
        ("client-files-malformed", "labels", {"client_files": files})
        for files in (
            [{"path": "page.html", "sha256": "0" * 63}],
            [{"path": "page.html", "sha256": "A" * 64}],
            *(
                [{"path": path, "sha256": "0" * 64} for path in paths]
                for paths in (
                    ("b", "a"),
                    ("a", "B"),
                    ("a", "a"),
                    ("",),
                    ("/a",),
                    ("a//b",),
                    ("a/../b",),
                    (".hidden",),
                    ("a b",),
                    ("a\\b",),
                    ("a\n",),
                    ("caf\u00e9",),
                    ("a" * 201,),
                    tuple(f"{number:03}" for number in range(129)),
                )
            ),
        )
    ),
    ("unknown-kind", "labels", {f"{ASKED}.kind": "many"}),
    ("bins-out-of-range", "clear", {f"{ASKED}.bins": 1}),
    ("max-set-out-of-range", "labels", {f"{ASKED}.max_set": 2}),
    ("attributes-unfit", "traits", {f"{ASKED}.attributes": [1, 4]}),
    ("label-empty", "labels", {f"{ASKED}.labels": ["a", "", "c"]}),
    ("label-twice", "labels", {f"{ASKED}.labels": ["a", "b", "a"]}),
    ("label-twice", "labels", {f"{ASKED}.labels": ["\u00e9", "b", "e\u0301"]}),
    ("labels-miscounted", "labels", {f"{ASKED}.labels": ["a", "b"]}),
    ("control-character-in-label", "labels", {f"{ASKED}.labels": ["a", "b\x1b[2J", "c"]}),
    ("control-character-in-label", "labels", {f"{ASKED}.labels": ["a", "b", "\ud800"]}),
    ("control-character-in-label", "labels", {f"{ASKED}.labels": ["a", "\u202eb", "c"]}),
    ("control-character-in-name", "labels", {f"{ASKED}.name": "q\x7f"}),
    ("hashed-with-labels", "hashed", {f"{ASKED}.labels": [str(i) for i in range(49)]}),
    ("unknown-hash", "hashed", {f"{ASKED}.hashed.function": "BLAKE2b"}),
    ("seed-malformed", "hashed", {f"{ASKED}.hashed.seed": c.SEED.upper()}),
    ("field-unknown", "hashed", {f"{ASKED}.hashed.values": 100}),
    ("field-missing", "planes", {f"{PART}.planes": GONE}),
    ("prime-out-of-range", "planes", {f"{PLANES}.prime": 1}),
    ("prime-out-of-range", "planes", {f"{PLANES}.prime": 2**31 + 11}),
    ("not-prime", "planes", {f"{PLANES}.prime": 6}),
    ("digits-out-of-range", "planes", {f"{PLANES}.digits": 1}),
    ("digits-unfit", "planes", {f"{PLANES}.digits": 4, f"{LAYOUT}.bins": 780}),
    (
        "digits-unfit",
        "planes",
        {f"{PART}.planes": {"prime": 41, "digits": 2}, f"{LAYOUT}.bins": 1722},
    ),
    (
        "planes-below-set",
        "set-planes",
        {f"{PART}.planes": {"prime": 3, "digits": 39}, f"{LAYOUT}.bins": "6078832729528464399"},
    ),
    (
        "digits-unfit",
        "set-planes",
        {f"{PART}.planes": {"prime": 5, "digits": 25}, f"{LAYOUT}.bins": "372529029846191405"},
    ),
    ("planes-too-many", "planes", {f"{PART}.planes": {"prime": 999_983, "digits": 7}}),
    (
        "planes-too-many",
        "planes",
        {
            f"{PART}.planes": {"prime": 999_983, "digits": 4},
            f"{LAYOUT}.bins": str(Planes(999_983, 4).messages),
        },
    ),
    (
        "planes-among-shaped",
        "planes",
        {OWN: None, "plan.cover": "every mix", RECIPE: {"type": "shaped", "ratio": 1, "shift": 1}},
    ),
    (
        "paired-unfit",
        "labels",
        {RECIPE: {"type": "paired", "ratio": 1, "shift": 1}},
    ),
    (
        "paired-unfit",
        "set-shaped",
        {RECIPE: {"type": "paired-gaussian", "variance": 1, "shift": 1}},
    ),
    (
        "planes-flipped",
        "flips",
        {f"{PART}.planes": {"prime": 2, "digits": 4}, f"{LAYOUT}.bins": 30},
    ),
    ("layout-bins", "planes", {f"{LAYOUT}.bins": 40}),
    ("hashed-without-planes", "hashed", {f"{PART}.planes": None, f"{LAYOUT}.bins": 49}),
    ("hashed-without-planes", "hashed", {f"{ASKED}.bins": 48, f"{PART}.bins": 48}),
    ("no-scale", "edges", {"plan.edges": [0.0, 1.0, 1.0, 2.0]}),
    ("no-scale", "edges", {"plan.edges": [0.0, 1.0, 2.0]}),
    ("grid-ends", "grid", {"plan.grid.low": 1.0}),
    ("grid-ends", "grid", {"plan.grid.low": 2, "plan.grid.high": -2}),
    ("grid-ends", "grid", {"plan.grid.low": -1e308, "plan.grid.high": 1e308}),
    ("grid-points", "grid", {"plan.grid.points": 5}),
    ("grid-points", "grid", {"plan.grid.points": 1}),
    ("several-encoders", "grid", {"plan.edges": [0, 1, 2, 3, 4]}),
    ("alphabet-unfit", "prefixes", {"plan.prefixes.alphabet": "aba"}),
    ("prefixes-out-of-range", "prefixes", {"plan.prefixes.longest": 0}),
    ("prefixes-bins", "prefixes", {"plan.prefixes.most": 3}),
    ("several-encoders", "hashed", {"plan.edges": list(range(50))}),
    ("several-encoders", "bits", {"plan.edges": [0, 1, 2, 3]}),
    ("epsilon-out-of-range", "labels", {"plan.guarantee.epsilon": 0}),
    ("delta-out-of-range", "labels", {"plan.guarantee.delta": 0.11}),
    ("unknown-observer", "labels", {"plan.guarantee.observer": "sums"}),
    ("users-out-of-range", "labels", {"plan.users": 1}),
    ("minimum-crowd-out-of-range", "labels", {"plan.minimum_crowd": 0}),
    ("minimum-crowd-above-users", "labels", {"plan.minimum_crowd": 1001}),
    ("honest-share-out-of-range", "clear", {"plan.honest_share": 0}),
    ("collections-out-of-range", "labels", {"plan.collections": 1001}),
    ("hops-out-of-range", "labels", {"plan.hops": 6}),
    ("unknown-cover", "labels", {"plan.cover": "nobody"}),
    ("cover-unfit", "labels", {"plan.cover": "people"}),
    ("flips-beside-mixes", "blanks", {"plan.count_flips": True}),
    ("too-few-honest", "clear", {"plan.honest_share": 0.0019, "plan.minimum_crowd": 1000}),
    ("free-bits-uncounted", "bits", {"plan.count_flips": False}),
    ("flip-uniform-repeated", "uniform", {"plan.collections": 2}),
    ("replaced-uncounted", "replaced", {"plan.count_flips": False}),
    ("replaced-out-of-range", "replaced", {f"{PART}.replaced": 0}),
    ("replaced-out-of-range", "replaced", {f"{PART}.replaced": str(SCALE)}),
    ("replaced-unfit", "labels", {f"{PART}.replaced": 1}),
    ("replaced-unfit", "crowd", {f"{PART}.replaced": 1}),
    ("clear-uncovered", "replaced", {f"{OWN}.record": "blank"}),
    ("slots-out-of-range", "slots", {f"{PART}.slots": 0}),
    ("slots-out-of-range", "slots", {f"{PART}.slots": 2}),
    ("slots-unfit", "set-planes", {f"{PART}.slots": 1}),
    ("slots-unfit", "set-shaped", {f"{PART}.slots": 1}),
    ("slots-unfit", "replaced", {f"{PART}.slots": 1}),
    ("slots-unfit", "set", {f"{PART}.slots": 1}),
    ("slots-unfit", "labels", {f"{PART}.slots": 1}),
    ("slots-unfit", "slots", {f"{PART}.replaced": 1}),
    ("layout-bins", "slots", {f"{PART}.layout.bins": 10}),
    ("parts-unfit", "slots", {f"{PART}.layout.bins": 9}),
    ("layout-bins", "slots-bits", {f"{PART}.layout.bins": 7}),
    ("parts-unfit", "slots-bits", {f"{PART}.layout.bins": 9}),
    ("most-set-out-of-range", "slots-bits", {f"{PART}.most_set": 7}),
    ("slots-unfit", "slots-bits", {f"{PART}.most_set": 4}),
    ("parts-unfit", "traits", {f"{ASKED}.attributes": [3, 2]}),
    ("parts-unfit", "labels", {f"{ASKED}.kind": "set"}),
    ("bounds-out-of-range", "labels", {f"{PROOF}.lower": 0.1}),
    ("not-proved", "labels", {f"{PROOF}.status": "guessed"}),
    ("other-epsilon", "labels", {f"{PROOF}.epsilon": 2}),
    ("proved-above-promise", "flips", {f"{PROOF}.upper": 0.10000000000000002}),
    ("local-epsilon-out-of-range", "flips", {"plan.local_epsilon": -0.5}),
    ("most-set-out-of-range", "flips", {f"{PART}.most_set": 10}),
    ("threshold-out-of-range", "flips", {f"{PART}.threshold": (1 << 24) - 1}),
    ("threshold-half", "flips", {f"{PART}.threshold": str(1 << 63)}),
    ("unknown-fake", "flips", {f"{OWN}.record": "shaped"}),
    ("own-fakes-out-of-range", "flips", {f"{OWN}.whole": 1001}),
    ("own-fakes-none", "flips", {f"{OWN}.whole": 0, f"{OWN}.coin": 0}),
    ("coin-below-zero", "flips", {f"{OWN}.coin": -1}),
    ("coin-too-large", "flips", {f"{OWN}.coin": str(SCALE)}),
    ("unknown-recipe", "labels", {f"{RECIPE}.type": "normal"}),
    ("ratio-out-of-range", "labels", {f"{RECIPE}.ratio": str(SCALE)}),
    ("shift-out-of-range", "labels", {f"{RECIPE}.shift": 0}),
    ("variance-out-of-range", "bell", {f"{RECIPE}.variance": 0}),
    ("shift-out-of-range", "pair", {f"{RECIPE}.shift": 0}),
    ("variance-out-of-range", "pair-bell", {f"{RECIPE}.variance": 10**9 + 1}),
    ("count-out-of-range", "blanks", {f"{RECIPE}.count": 0}),
    ("count-out-of-range", "drawn", {f"{RECIPE}.count": 10**10 + 1}),
    ("repeats-out-of-range", "crowd", {f"{PART}.repeats": 0}),
    ("repeats-out-of-range", "crowd", {f"{PART}.repeats": 1001}),
    ("repeats-unfit", "labels", {f"{PART}.repeats": 2}),
    ("repeats-unfit", "flips", {f"{PART}.repeats": 2}),
    ("repeats-unfit", "blanks", {f"{PART}.repeats": 2}),
    ("two-covers", "blanks", {OWN: {"record": "blank", "whole": 1, "coin": 0}}),
    ("clear-not-index", "labels", {f"{LAYOUT}.form": "bits"}),
    ("clear-uncovered", "clear", {f"{OWN}.record": "blank"}),
    (
        "clear-uncovered",
        "drawn",
        {f"{RECIPE}": {"type": "blanks", "count": 9, "threshold": str(1 << 60)}},
    ),
    ("clear-not-index", "bits", {f"{PART}.threshold": None}),
    ("set-uncovered", "set-clear", {OWN: None}),
    (
        "set-uncovered",
        "set-shaped",
        {RECIPE: {"type": "uniform", "count": 40}},
    ),
    ("parts-unfit", "set-clear", {f"{ASKED}.attributes": [4, 5]}),
    ("parts-unfit", "set-shaped", {f"{PART}.most_set": 3, f"{LAYOUT}.bins": 12}),
    ("layout-bins", "set-shaped", {f"{LAYOUT}.bins": 9}),
    ("flips-as-index", "flips", {f"{LAYOUT}.form": "index"}),
    ("recipe-unfit", "blanks", {f"{RECIPE}.threshold": str(1 << 60)}),
    ("recipe-unfit", "blanks", {RECIPE: {"type": "uniform", "count": 40}}),
    ("uniform-fakes-unfit", "set", {f"{OWN}.record": "uniform"}),
    ("free-bits-among-fakes", "bits", {OWN: {"record": "blank", "whole": 1, "coin": 0}}),
    ("unknown-form", "flips", {f"{LAYOUT}.form": "words"}),
    ("layout-bins", "flips", {f"{LAYOUT}.bins": 10}),
    ("layout-bins", "set-clear", {f"{LAYOUT}.bins": 9}),
    ("layout-bins", "set-clear", {f"{LAYOUT}.bins": 10}),
    ("cap-below-one", "positions", {f"{LAYOUT}.cap": 0}),
    ("cap-too-large", "positions", {f"{LAYOUT}.cap": 10}),
    ("cap-missing", "positions", {f"{LAYOUT}.cap": None}),
    ("cap-with-index", "labels", {f"{LAYOUT}.cap": 1}),
    ("cap-below-record", "set", {f"{LAYOUT}.cap": 1}),
    ("cap-below-record", "bits", {f"{LAYOUT}.cap": 2}),
]

VALUES: list[tuple[str, str, Any, Any]] = [
    ("no-answer", "labels", None, None),
    ("no-answer", "traits", None, None),
    ("value-outside-labels", "labels", "d", None),
    ("value-outside-labels", "labels", 0, None),
    ("value-outside-bins", "flips", 9, None),
    ("value-outside-bins", "flips", -1, None),
    ("value-outside-bins", "flips", True, None),
    ("not-a-number", "edges", "1", None),
    ("not-finite", "edges", {"double": "nan"}, None),
    ("not-finite", "edges", {"double": "inf"}, None),
    ("not-a-number", "grid", True, None),
    ("not-finite", "grid", {"double": "nan"}, None),
    ("not-finite", "grid", {"double": "inf"}, None),
    ("not-text", "hashed", 7, None),
    ("empty-text", "hashed", "", None),
    ("empty-text", "prefixes", "", None),
    ("half-character", "hashed", "a\ud83d", None),
    ("not-a-list", "set", 1, None),
    ("not-a-bit", "bits", [0, 2, 1], None),
    ("bits-miscounted", "bits", [0, 1], None),
    ("attributes-miscounted", "traits", [0], None),
    ("value-outside-bins", "traits", [2, 0], None),
    ("member-twice", "set", [1, 1], None),
    ("too-many-members", "set", [0, 1, 2], None),
    ("member-twice", "set-clear", [1, 1], None),
    ("too-many-members", "set-clear", [0, 1, 2], None),
    ("not-a-list", "texts", "a", None),
    ("empty-text", "texts", ["a", ""], None),
    ("member-twice", "texts", ["caf\u00e9", "cafe\u0301"], None),
    ("too-many-members", "texts", ["a", "b", "c", "d"], None),
    ("prefixes-not-asked", "labels", "a", [[1]]),
    ("prefixes-miscounted", "prefixes", "ab", []),
    ("prefixes-miscounted", "prefixes", "ab", [[1], [2], [3]]),
    ("prefix-length", "prefixes", "ab", [[1], [2, 1]]),
    ("prefix-length", "prefixes", "ab", [[1, 1, 1]]),
    ("prefix-symbol", "prefixes", "ab", [[0]]),
    ("prefix-symbol", "prefixes", "ab", [[5]]),
    ("prefix-twice", "prefixes", "ab", [[1], [1]]),
]

OPEN = {
    "epsilon": 20.0, "delta": 0.1, "local_epsilon": None, "hops": 1,
    "protocols": ["clear-shaped", "flip-blank"], "covers": ["every mix", "people"],
}  # fmt: skip
LIMITS: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    ("above-own-limit", "labels", {"epsilon": 0.5}, {}),
    ("above-own-limit", "labels", {"delta": 1e-6}, {}),
    ("above-own-limit", "labels", {"local_epsilon": 10.0}, {}),
    ("above-own-limit", "flips", {"local_epsilon": 4.4}, {}),
    ("too-few-hops", "labels", {"hops": 3}, {}),
    ("protocol-not-allowed", "labels", {"protocols": ["flip-blank"]}, {}),
    ("cover-not-allowed", "flips", {"covers": ["every mix"]}, {}),
    ("promise-false", "labels", {}, {f"{PROOF}.lower": 0, f"{PROOF}.upper": 1.1e-5}),
    ("promise-false", "pair", {}, {f"{PROOF}.lower": 0, f"{PROOF}.upper": 1e-11}),
]


def alter_contract(plain: Any, changes: dict[str, Any]) -> bytes:
    """Return the contract with other values at the given paths."""
    plain = json.loads(json.dumps(plain))
    for path, value in changes.items():
        *places, last = (int(name) if name.isdigit() else name for name in path.split("."))
        holder = plain
        for name in places:
            holder = holder[name]
        if value is GONE:
            del holder[last]
        else:
            holder[last] = value
    return json.dumps(plain, indent=1).encode() + b"\n"


def bad() -> dict[str, dict[str, Any]]:
    """Return the vectors by name, after checking that the client gives each reason."""
    good = {name: write_contract(c.contract_of(plan)) for name, plan in bases().items()}
    plain = {name: json.loads(data) for name, data in good.items()}
    made = [_bytes(reason, data) for reason, data in _spell_faults(good["flips"])]
    for reason, base, changes in CONTRACTS:
        made.append(_bytes(reason, alter_contract(plain[base], changes)))
    for reason, base, value, prefixes in VALUES:
        given = {"value": value, "prefixes": prefixes, "closing": False, "words": "00" * 8}
        if not bases()[base].parts[0].own:
            given["words"] = ""
        made.append({"what": "refused value", "contract": good[base].decode(), **given,
                     "reason": reason})  # fmt: skip
    for reason, base, limits, changes in LIMITS:
        text = alter_contract(plain[base], changes).decode()
        made.append({"what": "refused by limits", "contract": text, "limits": OPEN | limits,
                     "reason": reason})  # fmt: skip
    return _name_vectors(made)


def _spell_faults(good: bytes) -> list[tuple[str, bytes]]:
    """Return faults that no JSON value can represent."""
    twice = good.replace(b'"serial": 1,', b'"serial": 1,\n "serial": 1,')
    inner = good.replace(b'"cap": null', b'"cap": 9,\n     "cap": null')
    return [
        ("not-json", good[:-3]),
        ("not-json", good.replace(b'"upper": 0.1', b'"upper": NaN')),
        ("not-json", b"\xef\xbb\xbf" + good),
        ("not-json", good.replace(b'"Team collector"', b'"Team \xff"')),
        ("not-json", good.decode().encode("utf-16")),
        ("field-twice", twice),
        ("field-twice", inner),
        ("wrong-type", b"[]\n"),
    ]


def _bytes(reason: str, data: bytes) -> dict[str, Any]:
    try:
        written = {"contract": data.decode("utf-8")}
    except UnicodeDecodeError:
        written = {"contract_hex": data.hex()}
    return {"what": "refused contract", **written, "reason": reason}


def _name_vectors(made: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    seen: Counter[str] = Counter()
    named = {}
    for vector in made:
        name = f"{vector['what'].replace(' ', '-')}-{vector['reason']}"
        seen[name] += 1
        found = reason_of(vector)
        if found != vector["reason"]:
            raise SystemExit(f"{name} {seen[name]}: the client gives the reason {found}")
        named[f"{name}-{seen[name]}" if seen[name] > 1 else name] = vector
    return named


def reason_of(vector: dict[str, Any]) -> str | None:
    """Return the client's reason for a refusal; None if the client does not refuse."""
    written = vector.get("contract")
    data = bytes.fromhex(vector["contract_hex"]) if written is None else written.encode()
    try:
        contract = client.parse_contract(data)
        if "limits" in vector:
            limits = dict(vector["limits"])
            for name in ("protocols", "covers"):
                limits[name] = frozenset(limits[name])
            client.check_plan(contract.plan, client.Limits(**limits))
        elif "value" in vector:
            value, words = vector["value"], bytes.fromhex(vector["words"])
            if isinstance(value, dict):
                value = math.nan if value["double"] == "nan" else math.inf
            client.messages(contract.plan, value, lambda _: words, prefixes=vector["prefixes"])
    except RefusedError as error:
        return error.reason
    return None

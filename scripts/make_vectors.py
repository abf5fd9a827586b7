"""Write the test vectors, one scenario per file, for clients in every language.

    python scripts/make_vectors.py

SPEC.md describes the files in vectors/. Random words are derived with SHA-256 from the name of a
scenario, and some are planted. So every run gives the same files. The messages of the client are
compared with the NumPy reference before they are written. Only envelopes are kept as they are
(``wire_vectors``), because no envelope can be sealed a second time.
"""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "scripts")]

import bad_wire_vectors  # noqa: E402
import wire_vectors  # noqa: E402
from bad_vectors import bad, reason_of  # noqa: E402

from helpers import contracts as c  # noqa: E402
from mixtally.accounting.divergence.in_clear import usual_ratio  # noqa: E402
from mixtally.device import client  # noqa: E402
from mixtally.device.client import shaped  # noqa: E402
from mixtally.model.contract import (  # noqa: E402
    BlanksRecipe,
    FakeRecord,
    GaussianShape,
    LaplaceShape,
    NoRecipe,
    OwnFakes,
    Plan,
    Prefixes,
    UniformRecipe,
    write_contract,
    write_plan,
)
from mixtally.model.contract_json import stringify_large_integers  # noqa: E402
from mixtally.model.grid import Grid  # noqa: E402
from mixtally.model.hashing import HMAC_SHA256, Hashing  # noqa: E402
from mixtally.model.layout import Form, Layout  # noqa: E402
from mixtally.model.question import Kind, Question, make_attributes_question  # noqa: E402
from mixtally.model.shape import (  # noqa: E402
    AnyShape,
    PairedGaussianShape,
    PairedLaplaceShape,
)
from reference.answer import answer  # noqa: E402
from reference.person import hop_fakes, person_messages  # noqa: E402

TARGET = ROOT / "vectors"
LAST, HALF = 2**64 - 1, 1 << 63
BLANK, UNIFORM = FakeRecord.BLANK, FakeRecord.UNIFORM
NAMES = ("none", "Zürich", "東京", "New York", "a b")
SIGNED = "\n\u2014 mix-1 c2lnbmVk\n\u2014 mix-2 c2lnbmVkIHRvbw==\n"


class WordStream:
    """The random words of a scenario; ``planted`` replaces some of them, by their position."""

    def __init__(self, name: str, planted: dict[int, int]) -> None:
        self.name, self.planted, self.used = name, planted, bytearray()

    def __call__(self, count: int) -> bytes:
        """Return the next ``count`` words as bytes."""
        start = len(self.used)
        for place in range(start // 8, start // 8 + count):
            word = hashlib.sha256(f"mixtally vectors, {self.name}, {place}".encode()).digest()[:8]
            if place in self.planted:
                word = self.planted[place].to_bytes(8, "little")
            self.used += word
        return bytes(self.used[start:])

    def words(self, count: int) -> np.ndarray:
        """Return the next words as an array, for the reference."""
        return np.frombuffer(self(count), dtype="<u8").astype(np.uint64)


class SentMessages(NamedTuple):
    """A person's messages: the plan, the value, planted words, and the prefixes of a search."""

    name: str
    plan: Plan
    value: Any
    planted: dict[int, int] = {}  # noqa: RUF012
    prefixes: list[list[int]] | None = None
    closing: bool = False


def build_question(bins: int, **more: Any) -> Question:
    """Return the question of most scenarios."""
    return Question(name="where", bins=bins, **more)


def flipped_plan(
    bins: int, own: OwnFakes | None, *, count_flips: bool | None = None, **more: Any
) -> Plan:
    """Return a plan with numbered bins whose bits are flipped."""
    told = {} if count_flips is None else {"count_flips": count_flips}
    return c.plan_of(build_question(bins), [c.flipped(bins, own=own, **more)], **told)


def plain_scenarios() -> list[SentMessages]:
    """Return scenarios of one value, by label or number, for every mechanism and layout."""
    labels, named = build_question(5, labels=NAMES), c.uniform(5, whole=2, coin=HALF)
    two, coin = OwnFakes(BLANK, 2, 1), OwnFakes(BLANK, 0, HALF)
    deep = {"form": Form.POSITIONS, "q": 0.1, "cap": 2}
    every = dict.fromkeys(range(2, 11), 0)
    return [
        SentMessages("label-clear-shaped", c.proved(c.plan_of(labels, [c.shaped(5)])), "東京"),
        SentMessages("label-clear-gaussian", c.proved(c.plan_of(labels, [c.gaussian(5)])), "a b"),
        SentMessages("label-clear-paired",
            c.proved(c.plan_of(build_question(2, labels=NAMES[:2]), [c.paired()])), "Zürich"),
        SentMessages("label-clear-uniform-heads", c.plan_of(labels, [named]), "Zürich",
            {0: HALF - 1}),
        SentMessages("label-clear-uniform-tails", c.plan_of(labels, [named]), "Zürich", {0: HALF}),
        SentMessages("label-one-form", c.plan_of(labels, [named]), "Zu\u0308rich", {0: HALF}),
        SentMessages("uniform-word-drawn-again", c.plan_of(labels, [named]), "a b", {0: 0,
            2: LAST}),
        SentMessages("order-word-drawn-again", c.plan_of(labels, [c.uniform(5, whole=3, coin=0)]),
            "a b",
             {4: LAST, 5: LAST}),
        SentMessages("number-two-bytes", c.plan_of(build_question(300), [c.uniform(300, whole=1,
            coin=0)]), 299),
        SentMessages("replaced", c.plan_of(labels, [c.replaced(5)]), "東京", {0: (1 << 62) - 1}),
        SentMessages("replaced-by-a-word-drawn-again", c.plan_of(labels, [c.replaced(5)]), "東京",
             {0: 0, 1: LAST}),
        SentMessages("replaced-not", c.plan_of(labels, [c.replaced(5)]), "東京", {0: 1 << 62}),
        SentMessages("replaced-among-fakes",
             c.plan_of(build_question(300), [c.replaced(300, own=OwnFakes(UNIFORM, 1, HALF))]), 299,
             {0: 0, 1: 0}),
        SentMessages("flips-blank-fakes", flipped_plan(9, two), 8, {0: 0}),
        SentMessages("flips-no-fake-this-time", flipped_plan(17, coin, q=0.3), 16, {0: LAST}),
        SentMessages("flips-uniform-fakes", flipped_plan(10, OwnFakes(UNIFORM, 1, HALF)), 3,
            {0: 0}),
        SentMessages("flips-of-the-crowd", flipped_plan(12, None, q=0.25), 0),
        SentMessages("flips-of-oneself", flipped_plan(12, None, q=0.25, count_flips=False), 11),
        SentMessages("flips-sent-again", flipped_plan(12, None, q=0.25, repeats=3), 5),
        SentMessages("flips-sent-and-drawn-again",
             flipped_plan(9, None, q=0.1, cap=3, repeats=2), 4, dict.fromkeys(range(9, 18), 0)),
        SentMessages("flips-blanks-of-hops", flipped_plan(8, None, blanks=40), 7),
        SentMessages("flip-on-the-threshold", flipped_plan(4, None, q=0.25), 2,
             {0: (1 << 62) - 1, 1: 1 << 62, 2: (1 << 62) - 1, 3: 1 << 62}),
        SentMessages("positions", flipped_plan(40, two, **deep | {"cap": 9}), 39, {0: LAST}),
        SentMessages("positions-drawn-again", flipped_plan(9, coin, **deep), 4, {0: 0} | every),
        SentMessages("positions-two-byte-count",
             flipped_plan(2000, None, form=Form.POSITIONS, q=0.01, cap=300), 1999),
        SentMessages("bits-drawn-again", flipped_plan(9, coin, q=0.1, cap=3), 0, {0: LAST} | every),
    ]  # fmt: skip


def encoder_scenarios() -> list[SentMessages]:
    """Return scenarios for every encoder of a value."""
    edges = (-1.5, 0.0, 0.1, 2.0, 1e6)
    scale = c.plan_of(build_question(4), [c.shaped(4)], edges=edges)
    hashed = Hashing(function=HMAC_SHA256, seed=c.SEED)
    words = c.plan_of(build_question(419**7, hashed=hashed), [c.over_planes(419**7, 419)])
    closed = c.plan_of(build_question(300), [c.over_planes(300, 7, whole=2)])
    drawn = c.plan_of(build_question(5, labels=NAMES), [c.over_planes(5, 2, drawn=4)])
    spelled = Prefixes(alphabet="abcdé", most=3, longest=9)
    search = c.plan_of(build_question(spelled.bins), [c.shaped(spelled.bins)], prefixes=spelled)
    twice = Prefixes(alphabet="abcdé", most=3, longest=9, symbols=2)
    pairs = c.plan_of(build_question(twice.bins), [c.shaped(twice.bins)], prefixes=twice)
    known = [[1, 2], [6, 1], [3, 3]]
    found = [
        SentMessages(f"number-{name}", scale, value)
        for name, value in (
            ("below-the-first-edge", -7), ("above-the-last-edge", 1e300), ("on-an-edge", 0.1),
            ("on-the-last-edge", 1e6), ("just-below-an-edge", 1.9999999999999998),
            ("minus-zero", -0.0),
        )
    ]  # fmt: skip
    found += rounded_scenarios()
    found += [
        SentMessages("hashed-one-form", words, "cafe\u0301"),
        SentMessages("hashed-first-direction", words, "apple", {1: 0}),
        SentMessages("hashed-last-direction", words, "apple", {1: 5_424_220_653_225_939}),
        SentMessages("planes-first-place", closed, 299, {0: 0, 1: 48}),
        SentMessages("planes-second-place", closed, 299, {0: 0, 1: 49}),
        SentMessages("planes-last-place", closed, 299, {0: LAST, 1: 56}),
        SentMessages("planes-permuted-again", closed, 14, {0: 0, 1: 20}),
        SentMessages(
            "planes-every-point", c.plan_of(build_question(49), [c.over_planes(49, 7, whole=2)]), 6
        ),
        SentMessages("planes-word-drawn-again", closed, 0, {0: 0, 1: LAST, 3: LAST}),
        SentMessages(
            "planes-replaced",
            c.plan_of(build_question(300), [c.over_planes(300, 7, share=0.25)]),
            299,
            {1: (1 << 62) - 1},
        ),
        SentMessages(
            "planes-not-replaced",
            c.plan_of(build_question(300), [c.over_planes(300, 7, share=0.25)]),
            299,
            {1: 1 << 62},
        ),
        SentMessages("planes-of-hops", drawn, "東京", {0: 2}),
        SentMessages("hashed-other-script", words, "東京 \U0001f5fc"),
        SentMessages("prefix-first-round", search, "dab"),
        SentMessages("prefix-found", search, "cca", prefixes=known),
        SentMessages("prefix-ends-there", search, "ab", prefixes=known),
        SentMessages("prefix-escape", search, "東a", prefixes=known),
        SentMessages("prefix-everything-else", search, "da", prefixes=known),
        SentMessages("prefix-closing", search, "abé", prefixes=known, closing=True),
        SentMessages("prefix-closing-longer", search, "abéa", prefixes=known, closing=True),
        SentMessages("prefix-one-form", search, "abe\u0301", prefixes=known, closing=True),
        SentMessages("prefix-nobody", search, None, prefixes=known),
        SentMessages("prefix-two-symbols", pairs, "cca", prefixes=known),
        SentMessages("prefix-two-symbols-end", pairs, "ab", prefixes=known),
        SentMessages("prefix-two-symbols-closing", pairs, "abéa", prefixes=known, closing=True),
        SentMessages("prefix-two-symbols-longer", pairs, "abéab", prefixes=known, closing=True),
    ]
    return found


def rounded_scenarios() -> list[SentMessages]:
    """Return scenarios of random rounding: between and on points, at the ends and the threshold."""
    grid = Grid(low=-1.5, high=0.75, points=4)  # Its step is exactly 3/4.
    own = c.plan_of(build_question(4), [c.uniform(4, whole=1, coin=HALF)], grid=grid)
    tenths = Grid(low=0.1, high=0.7, points=7)  # Its inner points are not exact doubles.
    mixed = c.plan_of(build_question(7), [c.shaped(7)], grid=tenths)
    third = 2**64 // 3
    return [
        SentMessages("rounded-below-the-range", own, -7, {1: 0}),
        SentMessages("rounded-above-the-range", own, 1e300, {1: 0}),
        SentMessages("rounded-at-the-last-point", own, 0.75, {1: LAST}),
        SentMessages("rounded-on-a-point", own, 0.0, {1: 0}),
        SentMessages("rounded-minus-zero", own, -0.0, {1: 0}),
        SentMessages("rounded-up", own, -0.5, {1: third - 1}),
        SentMessages("rounded-down-on-the-threshold", own, -0.5, {1: third}),
        SentMessages("rounded-just-below-a-point", mixed, 0.3, {0: 0}),
        SentMessages("rounded-just-below-a-point-down", mixed, 0.3, {0: LAST}),
        SentMessages("rounded-whole-number", mixed, 1, {0: HALF}),
        SentMessages("rounded-between-points", mixed, 0.123456789),
    ]


def record_scenarios() -> list[SentMessages]:
    """Return scenarios of records of several bins, sent whole and split."""
    chosen = build_question(12, kind=Kind.SET, max_set=3)
    sets = c.plan_of(chosen, [c.flipped(12, most_set=3, own=OwnFakes(BLANK, 1, HALF))])
    clear = c.plan_of(chosen, [c.uniform(12, most_set=3, coin=HALF)])
    hashed = Hashing(function=HMAC_SHA256, seed=c.SEED)
    texts = c.plan_of(
        build_question(7**22, kind=Kind.SET, max_set=3, hashed=hashed),
        [c.over_planes(7**22, 7, most_set=3, share=0.25)],
    )
    traits = make_attributes_question("traits", (3, 2, 4))
    named = Question(
        name="traits", bins=4, labels=("a=1", "a=2", "b=1", "b=2"), kind=Kind.SET, max_set=2,
        attributes=(2, 2),
    )  # fmt: skip
    free, one = (Question(name="bits", bins=bins, kind=Kind.BITS) for bins in (3, 1))
    own = OwnFakes(BLANK, 1, HALF)
    single = c.flipped(1, most_set=None, own=own, q=0.05)
    some = c.plan_of(chosen, [c.sampled(12, 3, coin=HALF)])
    few = c.plan_of(traits, [c.sampled(9, 3, 2, whole=1, full=True)])
    bits = c.plan_of(free, [c.sampled(6, 3, whole=1, coin=0, full=True)])
    return [
        SentMessages("set-of-two", sets, [11, 0]),
        SentMessages("set-of-none", sets, []),
        SentMessages("set-of-nobody", sets, None),
        *(SentMessages(f"set-in-clear-of-{name}", clear, value, {0: HALF - 1}) for name, value in (
            ("three", [11, 4, 0]), ("one", [7]), ("none", []), ("nobody", None))),
        SentMessages("set-in-clear-two-bytes", c.plan_of(build_question(250, kind=Kind.SET,
            max_set=16),
             [c.uniform(250, most_set=16, whole=1, coin=0)]), [249, 3]),
        SentMessages("set-in-clear-among-shaped", c.proved(c.plan_of(chosen,
             [c.shaped(12, most_set=3, shift=120, ratio=15 << 60)])), [11, 0]),
        *(SentMessages(f"set-over-planes-of-{name}", c.plan_of(build_question(300, kind=Kind.SET,
            max_set=3),
             [c.over_planes(300, 7, most_set=3, whole=1)]), value)
          for name, value in (
              ("three", [299, 4, 0]), ("one", [8]), ("none", []), ("nobody", None))),
        *(SentMessages(f"set-of-texts-{name}", texts, value, planted) for name, value, planted in (
            ("of-three", ["東京", "cafe\u0301", "b"], {}), ("of-one", ["caf\u00e9"], {}),
            ("of-nobody", None, {}), ("replaced", ["a", "b"], {1: (1 << 62) - 1}))),
        SentMessages("set-over-planes-of-hops", c.plan_of(build_question(300, kind=Kind.SET,
            max_set=2),
             [c.over_planes(300, 5, most_set=2, drawn=4)]), [7, 250]),
        SentMessages("set-replaced", c.plan_of(chosen, [c.replaced(12, most_set=3)]), [11, 4],
             {0: 1 << 62, 1: (1 << 62) - 1, 3: 0}),
        SentMessages("set-replaced-over-planes", c.plan_of(build_question(300, kind=Kind.SET,
            max_set=3),
             [c.over_planes(300, 7, most_set=3, coin=0, share=0.25)]), [299],
             {0: (1 << 62) - 1, 2: 1 << 62}),
        *(SentMessages(f"set-over-wide-planes-{name}", c.plan_of(build_question(300, kind=Kind.SET,
            max_set=16),
             [c.over_planes(300, prime, most_set=16, whole=1, share=share, wide=True)]),
             [299, 4, 0])
          for name, prime, share in (("of-three", 41, None), ("replaced", 97, 0.25))),
        *(SentMessages(f"set-of-texts-over-wide-planes-{name}", c.plan_of(build_question(1 << 62,
            kind=Kind.SET, max_set=3, hashed=hashed),
             [c.over_planes(1 << 62, prime, most_set=3, whole=1, wide=True)]), value)
          for name, prime, value in (
              ("of-two", 2999, ["東京", "b"]), ("of-nobody", 2**31 - 1, None))),
        SentMessages("set-in-clear-among-gaussian", c.plan_of(chosen, [c.gaussian(12,
            most_set=3)]), []),
        *(SentMessages(f"slots-of-{name}", plan, value, planted) for name, plan, value, planted in (
            ("a-set", some, [11, 4, 0], {}), ("a-small-set", some, [7], {1: LAST}),
            ("an-empty-set", some, [], {}), ("attributes", few, [2, 0, 3], {}),
            ("bits", bits, [1, 0, 1], {}), ("bits-of-hops", c.plan_of(free, [c.sampled(6, 3,
                full=True, drawn=40)]), [0, 0, 1], {}))),
        SentMessages("attributes-whole", c.plan_of(traits, [c.flipped(9, most_set=3, own=own)]),
             [2, 0, 3]),
        SentMessages("attributes-split", c.plan_of(traits, [c.uniform(3), c.flipped(2, own=own),
             c.uniform(4, whole=1)], count_flips=False), [2, 0, 3]),
        SentMessages("attributes-split-and-sent-again", c.plan_of(traits, [c.flipped(3, own=own),
             c.flipped(2, repeats=2), c.flipped(4)]), [1, 1, 2]),
        SentMessages("attributes-split-labels", c.plan_of(named, [c.shaped(2), c.shaped(2)]),
             ["a=2", "b=1"]),
        SentMessages("bits-whole", c.plan_of(free, [c.flipped(3, most_set=None, q=0.2)]), [1, 0,
            1]),
        SentMessages("bits-sent-again",
             c.plan_of(free, [c.flipped(3, most_set=None, q=0.2, repeats=2)]), [0, 1, 1]),
        SentMessages("bits-split", c.plan_of(free, [single] * 3), [1, 0, 1]),
        SentMessages("bits-split-in-clear", c.plan_of(free, [c.uniform(2, whole=1)] * 3), [1, 0,
            1]),
        SentMessages("single-bit", c.plan_of(one, [single]), [1]),
    ]  # fmt: skip


def sent_vector(one: SentMessages) -> dict[str, Any]:
    """Return the vector of a scenario, whose messages are equal in the client and the reference."""
    data = write_contract(c.contract_of(one.plan))
    ours, theirs = WordStream(one.name, one.planted), WordStream(one.name, one.planted)
    more = {"prefixes": one.prefixes, "closing": one.closing}
    found = client.messages(client.parse_contract(data).plan, one.value, ours, **more)

    def bins(source: WordStream) -> list[tuple[int, ...]]:
        return answer(one.plan, one.value, one.prefixes, closing=one.closing, chance=source)

    if found != person_messages(one.plan, bins, theirs) or ours.used != theirs.used:
        raise SystemExit(f"{one.name}: the client and the reference disagree")
    if one.planted and len(ours.used) <= 8 * max(one.planted):
        raise SystemExit(f"{one.name}: a planted word is never drawn")
    return {
        "what": "messages",
        "contract": data.decode(),
        "value": one.value,
        **more,
        "words": ours.used.hex(),
        "messages": [[message.hex() for message in part] for part in found],
    }


def recipe_vectors() -> dict[str, dict[str, Any]]:
    """Return vectors of the fakes that hops add."""
    small, index, pair = LaplaceShape(c.RATIO, 2), Layout(Form.INDEX, 6), Layout(Form.INDEX, 2)
    border = sum(small.weights[:2])
    rare = BlanksRecipe(3, 1 << 60)
    flips = dict.fromkeys(range(9), 0)
    cases: dict[str, tuple[Any, Layout, dict[int, int]]] = {
        "shaped": (LaplaceShape(c.RATIO, 20), Layout(Form.INDEX, 3), {}),
        "shaped-borders": (small, index, {0: border - 1, 1: border, 2: 0, 3: LAST}),
        "shaped-two-bytes": (LaplaceShape(1 << 62, 1), Layout(Form.INDEX, 260), {}),
        "shaped-steep": (LaplaceShape(1, 3), Layout(Form.INDEX, 4), {1: 0, 2: LAST}),
        "gaussian": (GaussianShape(36, 20), Layout(Form.INDEX, 3), {}),
        "gaussian-cut": (GaussianShape(50, 2), Layout(Form.INDEX, 5), {1: 0, 2: LAST}),
        "paired": (PairedLaplaceShape(1 << 62, 6), pair, {}),
        "paired-none-in-the-first": (PairedLaplaceShape(1 << 63, 2), pair, {0: 0}),
        "paired-all-in-the-first": (PairedLaplaceShape(1 << 63, 2), pair, {0: LAST}),
        "paired-past-its-falls": (PairedLaplaceShape(1, 3), pair, {0: LAST}),
        "paired-gaussian": (PairedGaussianShape(9, 9), pair, {}),
        "blanks": (BlanksRecipe(4, 1 << 62), Layout(Form.BITS, 11), {}),
        "blanks-drawn-again": (rare, Layout(Form.BITS, 9, 2), flips),
        "blanks-positions": (rare, Layout(Form.POSITIONS, 40, 8), {}),
        "uniform": (UniformRecipe(5), Layout(Form.INDEX, 399), {1: LAST}),
        "none": (NoRecipe(), Layout(Form.BITS, 9), {}),
    }
    made = {}
    for name, (recipe, layout, planted) in cases.items():
        stream = WordStream(f"recipe {name}", planted)
        fakes = [fake.hex() for fake in hop_fakes(recipe, layout, stream)]
        given = {"recipe": c.builtins_of(recipe), "layout": c.builtins_of(layout)}
        made[f"recipe-{name}"] = {
            "what": "recipe", **given, "words": stream.used.hex(), "fakes": fakes,
        }  # fmt: skip
    return made


def other_vectors() -> dict[str, dict[str, Any]]:
    """Return vectors of fingerprints and shapes."""
    plan = c.plan_of(build_question(5, labels=NAMES), [c.shaped(5)])
    text = write_contract(c.contract_of(plan)).decode()
    files = {
        "of-a-plan": write_plan(plan).decode(),
        "unsigned": text,
        "signed": text + SIGNED,
        "without-last-newline": text[:-1],
        "crlf": text.replace("\n", "\r\n"),
    }
    made: dict[str, dict[str, Any]] = {
        f"fingerprint-{name}": {
            "what": "fingerprint", "file": file, "fingerprint": client.fingerprint_of(file.encode())
        }
        for name, file in files.items()
    }  # fmt: skip
    shapes: list[tuple[AnyShape, float]] = [
        *((LaplaceShape(c.RATIO, shift), 1.0) for shift in (3, 25)),
        (LaplaceShape(1 << 60, 2), 2.5),
        *((GaussianShape(*given), 1.0) for given in ((36, 36), (1, 30), (40_000, 1))),
        (PairedLaplaceShape(usual_ratio(1.0, 1, paired=True), 14), 1.0),
        (PairedLaplaceShape(1 << 30, 3), 0.5),
        *((PairedGaussianShape(*given), 0.7) for given in ((18, 26), (1, 30))),
    ]
    for shape, epsilon in shapes:
        delta = shaped.paired_delta if shape.paired else shaped.delta
        true, of = delta(shape.weights, epsilon)
        recipe = c.builtins_of(shape)
        made[f"shape-{recipe['type']}-{shape.shift}"] = {
            "what": "shape", "recipe": recipe, "epsilon": epsilon,
            "weights": stringify_large_integers(shape.weights), "delta": f"{true / of:.9g}",
        }  # fmt: skip
    return made


def vectors() -> dict[str, bytes]:
    """Return the content of every file by its name."""
    scenarios = [*plain_scenarios(), *encoder_scenarios(), *record_scenarios()]
    made = {f"messages-{one.name}": sent_vector(one) for one in scenarios}
    made |= recipe_vectors() | other_vectors() | bad()
    made |= wire_vectors.good() | bad_wire_vectors.bad()
    return {
        f"{name}.json": (json.dumps(content, indent=1) + "\n").encode()
        for name, content in made.items()
    }


def main() -> None:
    """Write all vectors, and remove files that no longer belong to them."""
    TARGET.mkdir(exist_ok=True)
    made = vectors()
    for old in TARGET.glob("*.json"):
        if old.name not in made:
            old.unlink()
    for name, content in made.items():
        (TARGET / name).write_bytes(content)
    print(f"{len(made)} files in {TARGET}")


__all__ = ["main", "reason_of", "vectors"]

if __name__ == "__main__":
    main()

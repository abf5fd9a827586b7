"""Sets of texts that nobody listed: from devices to counts, and what texts of one point change."""

from dataclasses import replace

import numpy as np
import pytest
from msgspec.structs import replace as altered

from mixtally.api import Device, Plan, conclude, mix, plan
from mixtally.device.client import draw, encode
from mixtally.device.client.draw import RandomWords
from mixtally.device.contract.part import ContractPart, Layout, Recipe
from mixtally.device.contract.planes import Planes
from mixtally.device.contract.question import Question as Bare
from mixtally.errors import InfeasibleError, ParameterError, PlanError, RefusedError
from mixtally.lab.data.population import Population
from mixtally.lab.simulation.open_words import count_true_words, hash_words
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model import planes
from mixtally.model.hashing import HMAC_SHA256, Hashing
from mixtally.model.question import MOST_SET, Kind, Question, make_open_question
from mixtally.protocol.encode.hashed import encode as points_of
from mixtally.protocol.encode.hashed import look_up_words
from mixtally.protocol.estimate.debias import total_variation_of

SEED, ANOTHER = "0f" * 16, "1f" * 16
WISH = {"epsilon": 4, "delta": 1e-3, "users": 300}
ANSWERS = [["rose", "caf\u00e9"]] * 120 + [["cafe\u0301"]] * 60 + [None] * 40 + [["a", "b"]] * 80
WORDS, HELD = ["rose", "caf\u00e9", "nobody", "lily"], [120, 180, 0, 0]


def of_seed(record, seed):
    hashing = Hashing(function=HMAC_SHA256, seed=seed)
    return altered(record, question=altered(record.question, hashed=hashing))


def round_of(agreed, seed=SEED):
    """What a collector tells whose seed is ``seed``, of devices under the plan."""
    sent = [Device(agreed).messages(answer) for answer in ANSWERS]
    counting = Plan(of_seed(agreed.record, seed))
    told = [replace(one, fingerprint=counting.fingerprint) for one in sent]
    return conclude(counting, mix(told, counting), level=1 - 1e-11, candidates=WORDS)


def inside(found):
    return [row.lower <= true <= row.upper for row, true in zip(found.rows, HELD, strict=True)]


@pytest.mark.parametrize(
    "more", [{}, {"messages_per_user": 2}, {"hops": 2}], ids=["people", "replaced", "mixes"]
)
def test_a_round_ends_within_its_intervals(more):
    """False alarm below 10^-9: eight intervals of 10^-11, and ten standard errors."""
    agreed = plan(make_open_question("sites", SEED, 2), **WISH, **more)
    found = round_of(agreed)
    assert found.people == 300
    assert all(inside(found))
    (others,), sizes = found.figures["others"], found.figures["sizes"]
    assert others.label == "words not listed, of all people"
    assert abs(others.estimate - 160) < 10 * others.standard_error
    assert others.lower <= 160 <= others.upper
    for row, true in zip(sizes, [460 / 300, 40, 100], strict=True):
        assert row.lower <= true <= row.upper


def test_a_collector_of_another_seed_is_caught():
    """Planted: it looks at other points than devices name; unnoticed below 10^-6."""
    agreed = plan(make_open_question("sites", SEED, 2), **WISH)
    assert inside(round_of(agreed, ANOTHER))[:2] == [False, False]


# -- texts that share a point ----------------------------------------------------------------------

FEW = Question(
    name="q", bins=7**2, kind=Kind.SET, max_set=3, hashed=Hashing(function=HMAC_SHA256, seed=SEED)
)
"""Of so few points that texts share some; no plan has so few."""
OVER = Planes(7, 2)
TEXTS = [f"text {number}" for number in range(400)]
POINTS = dict(zip(TEXTS, points_of(FEW, TEXTS).tolist(), strict=True))
FIRST = TEXTS[0]
SAME = next(text for text in TEXTS[1:] if POINTS[text] == POINTS[FIRST])
OTHER = next(text for text in TEXTS if POINTS[text] != POINTS[FIRST])
PADS = [OVER.member(OVER.points + place, OVER.points) for place in range(3)]
PAD = next(text for text in TEXTS if POINTS[text] == PADS[0])
PART = ContractPart(
    49, 3, None, None, Recipe("none"), Layout("index", OVER.messages, None), 1, OVER
)
ASKED = Bare("q", 49, None, "set", 3, None, bytes.fromhex(SEED))


def drawn(texts):
    """The points of a set as a device has it, and what each of its messages names of these."""
    chance = SeededChance(1)
    words = RandomWords(lambda count: chance.words(count).astype("<u8").tobytes())
    bins = encode._set(ASKED, texts)
    points = OVER.members(bins, PART.bins, 3)
    codes = [int.from_bytes(one, "little") for one in draw.draw_record(PART, bins, words)]
    named = [[OVER.message(one, code // 7) == code for one in points] for code in codes]
    return points, named


@pytest.mark.parametrize(
    ("texts", "points"),
    [
        ([FIRST, SAME, OTHER], [*sorted({POINTS[FIRST], POINTS[OTHER]}), PADS[0]]),
        ([FIRST, SAME], [POINTS[FIRST], *PADS[:2]]),
        ([PAD], [PADS[0], PADS[1], PADS[2]]),
        ([], PADS),
    ],
    ids=["two share a point", "and one is lacking", "one has a pad's point", "none"],
)
def test_a_record_is_of_different_points_whatever_texts_share(texts, points):
    found, named = drawn(texts)
    assert found == points
    assert named == np.eye(3, dtype=bool).tolist()


def crowd_of(*sets):
    """People who hold these numbers of ``TEXTS``."""
    asked = Question(name="q", bins=len(TEXTS), labels=tuple(TEXTS), kind=Kind.SET, max_set=3)
    return Population(asked, np.array(sets))


def test_crowds_have_texts_of_one_point_once_and_are_told_so():
    same, pad = TEXTS.index(SAME), TEXTS.index(PAD)
    crowd = crowd_of([0, same, -1], [same, -1, -1], [pad, -1, -1], [-1, -1, -1])
    assert hash_words(crowd, FEW).sizes.tolist() == [1, 1, 1, 0]
    words = [
        FIRST,
        SAME,
        next(text for text in TEXTS if POINTS[text] not in (POINTS[FIRST], PADS[0])),
    ]
    truth = count_true_words(crowd, look_up_words(FEW, words))
    assert truth.counts.tolist() == [2, 0]
    assert truth.figures["others"] == (1,)
    assert truth.figures["sizes"] == (1.0, 1.0, 3.0, 4.0)


def test_a_crowd_of_bits_has_no_words():
    bits = altered(crowd_of([0, 1, 2]).question, bins=8, labels=None)
    with pytest.raises(TypeError, match="not bits"):
        hash_words(Population(bits, np.ones((4, 1), dtype=np.uint8)), FEW)


def test_what_texts_of_special_position_may_change_is_bounded():
    """All pairs of points of two texts of Z_5^3: how far the number of their messages that point at
    the origin is from Bin(2, 1/5), in total variation and on average, is at most what is stated and
    no less than a quarter of it. A text that shares a point gives its place to any other.
    """
    over = Planes(5, 3)
    vectors = np.array([over.direction(number) for number in range(over.directions)])
    digits = np.array([[point // 5**place % 5 for place in range(3)] for point in range(125)])
    at = vectors @ digits.T % 5 == 0
    parted = (vectors @ digits.T % 5)[:, :, None] != (vectors @ digits.T % 5)[:, None, :]
    pointing = (at[:, :, None] & parted).sum(axis=0) / np.maximum(parted.sum(axis=0), 1)
    apart = ~np.eye(125, dtype=bool)
    p, q = pointing[apart], pointing.T[apart]
    law = np.array([(1 - p) * (1 - q), p * (1 - q) + q * (1 - p), p * q])
    off = 0.5 * np.abs(law - np.array([[16], [8], [1]]) / 25).sum(axis=0).mean()
    stated = planes.Planes(5, 3).total_variation_bound(1, 2)
    assert stated / 4 < off < stated


def test_intervals_allow_for_what_sets_may_change():
    """As ``test_open_words`` has it for single texts; values of a list have points of their own."""
    agreed = plan(make_open_question("sites", SEED, 9), **WISH).record
    one, over = agreed.parts[0].mechanism(fakes=300, crowd=300), agreed.parts[0].planes
    assert (
        total_variation_of(one, 300, hashed=True)
        == over.total_variation_bound(300, 9)
        > 100 * over.total_variation_bound(300)
    )
    single = altered(one, max_set=1)
    assert total_variation_of(single, 300, hashed=True) == over.total_variation_bound(300)
    assert total_variation_of(single, 300, hashed=False) == 0.0


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (["caf\u00e9", "cafe\u0301"], "member-twice"),
        (["a", "b", "c"], "too-many-members"),
        (["a", ""], "empty-text"),
        (["a", 1], "not-text"),
        (["a", "\ud83d"], "half-character"),
        ("a", "not-a-list"),
    ],
)
def test_what_is_no_set_of_texts_is_refused(answer, reason):
    device = Device(plan(make_open_question("sites", SEED, 2), **WISH))
    with pytest.raises(RefusedError) as refused:
        device.messages(answer)
    assert refused.value.reason == reason


@pytest.mark.parametrize("most", [0, MOST_SET + 1])
def test_sets_of_too_many_texts_are_refused(most):
    with pytest.raises(ParameterError, match=r"expected an integer in \[1, 16\]"):
        make_open_question("sites", SEED, most)


def test_a_round_of_the_largest_sets_ends_within_its_intervals():
    """Messages have more than 8 bytes. False alarm below 10^-9, as above."""
    agreed = plan(make_open_question("sites", SEED, MOST_SET), **WISH)
    (part,) = agreed.record.parts
    assert 8 < part.layout.message_bytes <= 16
    assert part.bins == agreed.record.question.bins == 1 << 62
    found = round_of(agreed)
    assert found.people == 300
    assert all(inside(found))


def test_a_budget_below_a_set_says_what_it_needs():
    with pytest.raises(InfeasibleError, match="needs 3 messages a record"):
        plan(make_open_question("sites", SEED, 3), **WISH, messages_per_user=2)


def test_texts_are_no_attributes():
    with pytest.raises(PlanError, match="a set of them, bins without labels"):
        altered(FEW, attributes=(20, 20, 9))

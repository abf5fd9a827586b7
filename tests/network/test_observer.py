"""Whoever watches all sockets of a round sees the same for every answer, given the coins."""

from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from helpers import contracts
from helpers.devices import LABELS
from mixtally.device.client.net import PostResult, post, seal
from mixtally.model.contract import Prefixes
from mixtally.model.grid import Grid
from mixtally.model.hashing import HMAC_SHA256, Hashing
from mixtally.model.question import Kind, Question, make_attributes_question
from network.onwires import NAMES, heard
from network.wiretap import Taps, shapes

WORDS = Prefixes(alphabet="ab", most=2, longest=3)


def planned(question, *parts, **changes):
    """Three mixes, two people or more."""
    return contracts.plan_of(
        question, parts, hops=3, collections=3, users=1000, minimum_crowd=2, **changes
    )


def shaped(bins):
    """Few fakes of every mix."""
    return contracts.shaped(bins, shift=3)


def coins(bins):
    """Fakes of devices: one, and another by a coin."""
    return contracts.uniform(bins, whole=1, coin=1 << 63)


SPARSE = {"most_set": 2, "q": 0.1, "blanks": 5, "form": contracts.Form.POSITIONS, "cap": 3}
SCENES = {
    "labels": (planned(Question(name="q", bins=4, labels=LABELS), shaped(4)), LABELS, {}),
    "labels among fakes of devices": (
        planned(Question(name="q", bins=4, labels=LABELS), coins(4)),
        LABELS,
        {},
    ),
    "bits, a part each": (
        planned(Question(name="q", bins=2, kind=Kind.BITS), *[shaped(2)] * 2),
        [[0, 0], [0, 1], [1, 0], [1, 1]],
        {},
    ),
    "bits, flipped together": (
        planned(
            Question(name="q", bins=9, kind=Kind.BITS),
            contracts.flipped(9, most_set=None),
            count_flips=True,
        ),
        [[0] * 9, [1] * 9, [1, 0, 0, 0, 0, 0, 0, 0, 1]],
        {},
    ),
    "bits, sent again": (
        planned(
            Question(name="q", bins=9, kind=Kind.BITS),
            contracts.flipped(9, most_set=None, repeats=3),
            count_flips=True,
        ),
        [[0] * 9, [1] * 9],
        {},
    ),
    "attributes, a part each": (
        planned(make_attributes_question("q", (2, 3)), shaped(2), shaped(3)),
        [[a, b] for a in range(2) for b in range(3)],
        {},
    ),
    "sets, and nothing happened": (
        planned(
            Question(name="q", bins=4, kind=Kind.SET, max_set=2), contracts.flipped(4, **SPARSE)
        ),
        [None, [], [0], [3], [0, 1], [2, 3]],
        {},
    ),
    "sets replaced": (
        planned(
            Question(name="q", bins=4, kind=Kind.SET, max_set=2),
            contracts.replaced(4, most_set=2),
            count_flips=True,
        ),
        [None, [], [0], [3], [0, 1], [2, 3]],
        {},
    ),
    "numbers": (
        planned(Question(name="q", bins=3), shaped(3), edges=(0.0, 1.0, 5.0, 9.0)),
        [-7, 0.5, 5, 1e9],
        {},
    ),
    "numbers that are rounded": (
        planned(Question(name="q", bins=3), shaped(3), grid=Grid(low=-1.0, high=1.0, points=3)),
        [-7, 0.5, 0, 1e9],
        {},
    ),
    "hashed texts": (
        planned(
            Question(name="q", bins=9, hashed=Hashing(function=HMAC_SHA256, seed=contracts.SEED)),
            contracts.over_planes(9, 3, drawn=6),
        ),
        ["a", "Zürich", "日本" * 40],
        {},
    ),
    "sets of texts": (
        planned(
            contracts.pairs_of_texts(5**26),
            contracts.over_planes(5**26, 5, drawn=6, most_set=2),
        ),
        [None, ["a"], ["Zürich", "日本" * 40]],
        {},
    ),
    "words, the first round": (
        planned(Question(name="q", bins=WORDS.bins), shaped(WORDS.bins), prefixes=WORDS),
        ["a", "bba", "zz", None],
        {},
    ),
    "words, a later round": (
        planned(Question(name="q", bins=WORDS.bins), shaped(WORDS.bins), prefixes=WORDS),
        ["aa", "ab", "b", "zzz", None],
        {"prefixes": ((1,), (2,))},
    ),
    "words, the closing round": (
        planned(Question(name="q", bins=WORDS.bins), shaped(WORDS.bins), prefixes=WORDS),
        ["a", "ab", None],
        {"prefixes": ((1,), (2,)), "closing": True},
    ),
}
OTHERS = 1
"""The place of an answer that other people give."""


@pytest.fixture(scope="module")
def taps():
    made = Taps(NAMES)
    yield made
    made.end()


def seen(taps, name, value, **more):
    """What is seen when one person answers so, and another as always."""
    agreed, values, sheet = SCENES[name]
    return shapes(heard(taps, agreed, [value, values[OTHERS]], **sheet, **more))


def alike(taps, name, values):
    """Every exchange between whomever: how many, in which order, their heads, their lengths."""
    first, *others = values
    wanted = seen(taps, name, first)
    assert len([one for one in wanted if b"/bundles" in one.asked]) == 2
    assert {one.role for one in wanted} == set(NAMES)
    assert [one for one in wanted if one.asked.startswith(b"PUT /pieces/")]
    for value in others:
        assert seen(taps, name, value) == wanted, value


@pytest.mark.seconds
@pytest.mark.parametrize("name", SCENES)
def test_every_answer_looks_alike(taps, name):
    alike(taps, name, SCENES[name][1])


def test_two_answers_look_alike(taps):
    alike(taps, "bits, a part each", [[0, 0], [1, 1]])


def with_header(happened):
    """A planted client, which tells in a header whether something happened."""

    def ask(address, path, body):
        link = HTTPConnection(urlsplit(address).netloc, timeout=10)
        link.request("POST", path, body, {"X-Session": f"{happened}"})
        status = link.getresponse().status
        link.close()
        return PostResult(status)

    return ask


def several_times(count):
    """A planted client, which sends its bundle again, to be sure, if something happened."""

    def ask(address, path, body):
        return [post(address, path, body) for _ in range(count)][-1]

    return ask


def test_a_header_that_depends_on_the_answer_is_noticed(taps):
    views = [seen(taps, "labels", LABELS[0], ask=with_header(happened)) for happened in (0, 1)]
    assert views[0] != views[1]
    assert [one.sent for one in views[0]] == [one.sent for one in views[1]]


@pytest.mark.seconds
def test_a_request_more_is_noticed(taps):
    views = [seen(taps, "labels", LABELS[0], ask=several_times(count)) for count in (1, 2)]
    assert len(views[1]) == len(views[0]) + 2  # of both people


@pytest.mark.seconds
def test_a_length_that_depends_on_the_answer_is_noticed(taps, plant):
    """A planted device, which leaves a fake out where nothing happened."""

    def fewer(honest, plan, value, words, **more):
        sent = honest(plan, value, words, **more)
        return [[*part, part[0]][: 2 if value == LABELS[0] else 3] for part in sent]

    plant(seal, "messages", fewer)
    name = "labels among fakes of devices"
    assert seen(taps, name, LABELS[0]) != seen(taps, name, LABELS[2])

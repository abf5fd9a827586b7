"""The same bytes again or none: what each class of answers leads to, and when."""

from email.utils import formatdate

import pytest

from helpers.devices import NOW, OPEN, Words, World, answer, first_mix
from mixtally.device.client.net import (
    BundleState,
    Diary,
    PostResult,
    deliver,
    deliver_until_answered,
    prepare,
)

WORLD = World()


class Mix:
    """Answers in the place of a first mix, the last one for ever; keeps what it is sent."""

    def __init__(self, *answers):
        self.answers, self.bodies, self.paths = list(answers), [], []

    def __call__(self, address, path, body):
        self.bodies.append(body)
        self.paths.append(address + path)
        said = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return said if isinstance(said, PostResult) else PostResult(said)


@pytest.fixture
def diary(tmp_path):
    with Diary(tmp_path / "diary.db") as made:
        yield made


def pending(diary, *, at_once=True, now=NOW):
    return prepare(diary, WORLD.round(now=now), "no", Words(1), now, at_once=at_once)


def test_it_leaves_for_the_round_at_the_first_mix(diary):
    mix, entry = Mix(201), pending(diary)
    bundle = diary.bundle(entry)
    ended = deliver(diary, entry, NOW, ask=mix)
    assert mix.paths == [f"http://127.0.0.1:9/contracts/{WORLD.fingerprint}/rounds/1/bundles"]
    assert mix.bodies == [bundle]
    assert (ended.state, ended.status, ended.tries, ended.left) == (BundleState.TAKEN, 201, 1, NOW)


def test_it_waits_for_its_moment(diary):
    mix, entry = Mix(201), pending(diary, at_once=False)
    assert NOW < entry.due < NOW + OPEN
    assert deliver(diary, entry, entry.due - 1, ask=mix) == entry
    assert mix.bodies == []
    assert deliver(diary, entry, entry.due, ask=mix).state is BundleState.TAKEN


def test_it_may_leave_before_its_moment_but_not_before_the_mix_allows(diary):
    mix = Mix(PostResult(503, "100"), 201)
    entry = deliver(diary, pending(diary, at_once=False), NOW, ask=mix, at_once=True)
    assert (entry.is_pending, entry.due) == (True, NOW + 100)
    deliver(diary, entry, NOW + 99, ask=mix, at_once=True)
    assert len(mix.bodies) == 1


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_taken(diary, status):
    entry = deliver(diary, pending(diary), NOW, ask=Mix(status))
    assert (entry.state, entry.status) == (BundleState.TAKEN, status)


@pytest.mark.parametrize("status", [400, 403, 404, 409, 410, 413, 499])
def test_refused_and_never_sent_again(diary, status):
    mix = Mix(status)
    entry = deliver(diary, pending(diary), NOW, ask=mix)
    assert (entry.state, entry.status, diary.bundle(entry)) == (BundleState.REFUSED, status, None)
    assert deliver(diary, entry, NOW + 100, ask=mix) == entry
    assert len(mix.bodies) == 1


@pytest.mark.parametrize(
    "said", [408, 429, 503, 500, 502, 301, 307, 600, PostResult(None, why="gone")]
)
def test_the_same_bytes_are_sent_again(diary, said):
    mix = Mix(said, said, 201)
    entry = pending(diary)
    while entry.is_pending:
        entry = deliver(diary, entry, entry.due, ask=mix)
    assert (entry.state, len(mix.bodies), len(set(mix.bodies))) == (BundleState.TAKEN, 3, 1)


@pytest.mark.parametrize(
    ("after", "waits"),
    [
        ("120", 120),
        (" 7 ", 7),
        ("0", 30),
        (formatdate(NOW + 500, usegmt=True), 500),
        (formatdate(NOW - 500, usegmt=True), 1),
        ("soon", 30),
        ("-5", 30),
        ("1e3", 30),
        ("", 30),
        (None, 30),
        ("Fri, 99 Foo 2026 99:99:99 GMT", 30),
        ("\u0663", 30),
    ],
)
def test_when_it_is_sent_again(diary, after, waits):
    entry = deliver(diary, pending(diary), NOW, ask=Mix(PostResult(503, after)))
    assert entry.due == NOW + waits


@pytest.mark.parametrize(("status", "waits"), [(429, 9), (500, 9), (502, 9), (302, 30), (None, 30)])
def test_whose_time_is_kept(diary, status, waits):
    entry = deliver(diary, pending(diary), NOW, ask=Mix(PostResult(status, "9")))
    assert entry.due == NOW + waits


@pytest.mark.parametrize("after", [str(OPEN), "9" * 400, formatdate(NOW + 10**8)])
def test_a_time_after_the_window_ends_it(diary, after):
    entry = deliver(diary, pending(diary), NOW, ask=Mix(PostResult(503, after)))
    assert (entry.state, entry.status, diary.bundle(entry)) == (BundleState.OVER, 503, None)


def test_a_full_round_is_said_to_be_full_and_not_asked_again(diary):
    mix = Mix(PostResult(429, str(OPEN + 3600)), 201)
    entry = deliver(diary, pending(diary), NOW, ask=mix)
    assert (entry.state, entry.status, diary.bundle(entry)) == (BundleState.REFUSED, 429, None)
    assert deliver(diary, entry, NOW + 60, ask=mix) == entry
    assert len(mix.bodies) == 1


def test_waits_double_and_halve_towards_the_end(diary):
    entry, mix, moments = pending(diary), Mix(PostResult(None)), []
    while entry.is_pending:
        moments.append(entry.due - NOW)
        entry = deliver(diary, entry, entry.due, ask=mix)
    assert moments[:6] == [0, 30, 90, 210, 450, 930]
    assert all(moment < OPEN for moment in moments)
    assert moments[-1] >= OPEN - 2
    assert (entry.state, entry.tries) == (BundleState.OVER, len(moments))
    assert len(set(mix.bodies)) == 1


def test_nothing_leaves_after_the_window(diary):
    mix = Mix(201)
    entry = deliver(diary, pending(diary), NOW + OPEN, ask=mix)
    assert (entry.state, entry.left, mix.bodies) == (BundleState.OVER, None, [])


def test_a_clock_that_goes_back_waits(diary):
    mix, entry = Mix(201), pending(diary)
    assert deliver(diary, entry._replace(due=0), NOW - 1, ask=mix).is_pending
    assert mix.bodies == []


def test_until_it_is_answered(diary):
    clock, naps = [NOW + 0.25], []

    def sleep(seconds):
        naps.append(seconds)
        clock[0] += seconds

    mix = Mix(PostResult(503, "200"), PostResult(None), 201)
    ended = deliver_until_answered(diary, pending(diary), lambda: clock[0], sleep, ask=mix)
    assert (ended.state, ended.tries) == (BundleState.TAKEN, 3)
    assert (max(naps), min(naps) > 0) == (60.0, True)
    assert 200 <= clock[0] - NOW < 300


def test_over_a_real_socket(tmp_path):
    with first_mix(answer(503, "Retry-After: 2"), None, answer(201)) as mix:
        world = World(address=mix.address)
        with Diary(tmp_path / "diary.db") as diary:
            entry = prepare(diary, world.round(), "no", Words(1), NOW, at_once=True)
            while entry.is_pending:
                entry = deliver(diary, entry, entry.due)
    assert (entry.state, entry.tries, len(set(mix.requests))) == (BundleState.TAKEN, 3, 1)
    assert world.opened(mix.bodies[0]) == [[b"\x01"]]


def test_requests_of_all_answers_have_one_length(tmp_path):
    with first_mix() as mix:
        world = World(address=mix.address)
        for value in world.plan.question.labels:
            with Diary(tmp_path / f"{value}.db") as diary:
                entry = prepare(diary, world.round(), value, Words(1), NOW, at_once=True)
                deliver(diary, entry, NOW)
    assert len({len(request) for request in mix.requests}) == 1
    heads = {request.partition(b"\r\n\r\n")[0] for request in mix.requests}
    assert (len(mix.requests), len(heads)) == (4, 1)

"""A diary charges once, keeps one bundle a round, and forgets its bytes when they are answered."""

import sqlite3
import stat

import pytest

from helpers import contracts
from helpers.devices import NOW, OPEN, Words, World, by_mixes
from mixtally.device.client.net import Budget, BundleState, Diary, prepare
from mixtally.device.client.net.rules import is_sum_above
from mixtally.device.client.net.seal import SealedBundle
from mixtally.errors import DataError, RefusedError
from mixtally.model.question import Question

WORLD = World()


@pytest.fixture
def diary(tmp_path):
    with Diary(tmp_path / "diary.db") as made:
        yield made


def enter(diary, world=WORLD, number=1, value="yes", *, seed=1, now=NOW, sheet=None, **options):
    given = world.round(number, now, **(sheet or {}))
    return prepare(diary, given, value, Words(seed), now, **options)


def reason(diary, *arguments, **options):
    before = (diary.entries(), diary.charges())
    with pytest.raises(RefusedError) as refusal:
        enter(diary, *arguments, **options)
    assert (diary.entries(), diary.charges()) == before
    return refusal.value.reason


def test_a_round_is_charged_as_its_contract_states_it(diary):
    entry = enter(diary)
    (charge,) = diary.charges()
    plan = WORLD.plan
    assert charge[:1] + charge[3:] == ("home-page", 1.0, 0.1, plan.collections, NOW)
    assert (entry.is_pending, entry.tries, entry.left) == (True, 0, None)
    assert NOW <= entry.due < NOW + OPEN
    assert WORLD.opened(diary.bundle(entry)) == [[b"\x00"]]


def test_a_contract_is_charged_once_for_all_its_rounds(diary):
    for number in (1, 2, 3):
        entry = enter(diary, number=number, seed=number)
        diary.record_end(entry, BundleState.TAKEN, NOW, 201)
    assert len(diary.charges()) == 1
    assert [entry.round for entry in diary.entries()] == [1, 2, 3]


def test_a_pending_bundle_stays_the_only_one_whatever_is_answered_then(diary):
    first = enter(diary, value="yes", seed=1)
    kept = diary.bundle(first)
    assert enter(diary, value="no", seed=2, now=NOW + 5) == first
    assert enter(diary, value="no answer of this question", seed=3) == first
    assert diary.bundle(first) == kept
    assert len(diary.charges()) == 1


@pytest.mark.parametrize("state", [BundleState.TAKEN, BundleState.REFUSED, BundleState.OVER])
def test_a_round_that_ended_is_never_answered_again(diary, state):
    entry = diary.record_end(enter(diary), state, NOW)
    assert (entry.state, diary.bundle(entry)) == (state, None)
    assert reason(diary, seed=2) == "round-answered"


def test_two_sheets_of_a_round(diary):
    enter(diary)
    assert reason(diary, sheet={"expires": NOW + 5 * OPEN}) == "another-sheet"
    diary.record_end(enter(diary), BundleState.TAKEN, NOW)
    assert reason(diary, sheet={"expires": NOW + 5 * OPEN}) == "another-sheet"


def test_an_earlier_round_after_a_later_one(diary):
    enter(diary, number=2)
    assert reason(diary, number=1) == "round-out-of-order"


def test_an_ended_serial(diary):
    enter(diary, World(serial=2))
    assert reason(diary, World(serial=1), number=2) == "serial-ended"


def test_two_contracts_of_a_name_and_serial(diary):
    enter(diary)
    assert reason(diary, World(client_files=contracts.FILES), number=2) == "serial-twice"


def test_a_later_serial_goes_on_with_the_rounds_and_the_charge(diary):
    diary.record_end(enter(diary), BundleState.TAKEN, NOW)
    later = World(serial=2, team="x-")
    assert reason(diary, later, number=1) == "round-answered"
    enter(diary, later, number=2)
    assert len(diary.charges()) == 1


def test_a_later_serial_has_no_more_rounds_than_are_left(diary):
    for number in (1, 2, 3):
        enter(diary, number=number)
    assert reason(diary, World(serial=2), number=3) == "another-sheet"
    with pytest.raises(RefusedError, match="at most 3"):
        World(serial=2).round(4)


def test_another_plan_under_the_same_name_costs_anew(diary):
    enter(diary)
    enter(diary, World(by_mixes(collections=5), serial=2), number=2)
    assert [charge.collections for charge in diary.charges()] == [3, 5]


def test_the_question_under_another_name(diary):
    enter(diary)
    renamed = World(name="kitchen")
    assert reason(diary, renamed) == "question-under-another-name"
    enter(diary, renamed, again=True)
    assert len(diary.charges()) == 2


def other(name):
    """Another question under another name."""
    labels = tuple(f"{name}{i}" for i in range(4))
    return World(by_mixes(question=Question(name=name, bins=4, labels=labels)), name=name)


def test_a_budget_is_kept(diary):
    budget = Budget(2.0, 0.2)
    for name in ("a", "b"):
        enter(diary, other(name), value=f"{name}0", budget=budget)
    assert reason(diary, other("c"), value="c0", budget=budget) == "budget-passed"
    enter(diary, other("a"), number=2, value="a0", budget=budget)
    small = Budget(9.0, 0.29)
    assert reason(diary, other("c"), value="c0", budget=small) == "budget-passed"


def test_sums_are_exact():
    assert not is_sum_above([0.1] * 2, 0.2)
    assert is_sum_above([0.1] * 3, 0.3)  # each a little more than a tenth
    assert is_sum_above([1.0, 1e-300], 1.0)
    assert not is_sum_above([], 0.0)


def test_a_value_without_an_answer_costs_nothing(diary):
    assert reason(diary, value="maybe") == "value-outside-labels"


def test_words_that_fail_cost_nothing(diary):
    with pytest.raises(OSError, match="no words"):
        prepare(diary, WORLD.round(), "yes", broken, NOW)
    assert (diary.entries(), diary.charges()) == ([], [])


def broken(count):
    raise FileNotFoundError("no words")


def held(folder):
    return b"".join(path.read_bytes() for path in folder.iterdir())


@pytest.mark.parametrize("size", [100, 50_000])
def test_bytes_are_gone_when_they_are_answered(diary, tmp_path, size):
    bundle = Words(1)(size // 4)[:size]
    entry = diary.add_entry(WORLD.round(), NOW, lambda: SealedBundle(bundle, b"one tag.", NOW))
    assert bundle[-20:] in held(tmp_path)
    diary.record_end(entry, BundleState.TAKEN, NOW, 201)
    left = held(tmp_path)
    assert all(bundle[start : start + 16] not in left for start in range(0, size - 16, 16))
    assert b"one tag." in left


def test_what_is_over_is_swept(diary):
    entry = enter(diary)
    diary.expire_entries(NOW + OPEN - 1)
    assert diary.find(*entry[:2]).is_pending
    diary.expire_entries(NOW + OPEN)
    swept = diary.find(*entry[:2])
    assert (swept.state, swept.ended) == (BundleState.OVER, NOW + OPEN)


def test_only_the_owner_reads_it(tmp_path):
    path = tmp_path / "diary.db"
    path.touch(0o666)
    path.chmod(0o666)
    with Diary(path) as diary:
        enter(diary)
        modes = {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
        assert (modes, len(list(tmp_path.iterdir()))) == ({0o600}, 3)


def test_the_answer_is_nowhere(tmp_path):
    labels = ("a planted answer", "b", "c", "d")
    world = World(by_mixes(question=Question(name="q", bins=4, labels=labels)))
    with Diary(tmp_path / "diary.db") as diary:
        enter(diary, world, value=labels[0])
        assert b"planted" not in held(tmp_path)


def foreign(path):
    with sqlite3.connect(path) as rows:
        rows.execute("CREATE TABLE other (one)")
    rows.close()


def later(path):
    Diary(path).close()
    with sqlite3.connect(path) as rows:
        rows.execute("PRAGMA user_version = 5")
    rows.close()


@pytest.mark.parametrize(
    "spoil",
    [
        foreign,
        later,
        lambda path: path.write_bytes(b"no database" * 100),
        lambda path: path.mkdir(),
        lambda path: path.symlink_to(path.parent / "no" / "where"),
    ],
    ids=["another database", "a later version", "no database", "a folder", "a link to nowhere"],
)
def test_another_file_is_refused_and_left_alone(tmp_path, spoil):
    path = tmp_path / "diary.db"
    spoil(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(DataError, match="diary"):
        Diary(path)
    assert (path.read_bytes() if path.is_file() else None) == before


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(DataError):
        Diary(tmp_path / "no" / "diary.db")


def test_two_processes_have_one_bundle_between_them(tmp_path):
    with Diary(tmp_path / "diary.db") as one, Diary(tmp_path / "diary.db") as two:
        entry = enter(one, seed=1)
        assert enter(two, seed=2) == entry
        assert one.bundle(entry) == two.bundle(entry)


def test_a_full_disk_charges_nothing(diary):
    rows = diary._rows
    pages = rows.execute("PRAGMA page_count").fetchone()[0]
    rows.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(DataError, match="full"):
        diary.add_entry(WORLD.round(), NOW, lambda: SealedBundle(bytes(100_000), b"", NOW))
    assert (diary.entries(), diary.charges()) == ([], [])
    rows.execute(f"PRAGMA max_page_count = {pages + 100}")
    assert enter(diary).is_pending


def test_a_window_that_went_by_while_a_person_thought(diary):
    given = WORLD.round()
    with pytest.raises(RefusedError) as refusal:
        prepare(diary, given, "yes", Words(1), NOW + OPEN)
    assert (refusal.value.reason, diary.charges()) == ("round-over", [])


def test_a_locked_diary_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("mixtally.device.client.net.diary._WAIT", 0.05)
    with Diary(tmp_path / "diary.db") as one, Diary(tmp_path / "diary.db") as two:
        with one._transaction(), pytest.raises(DataError, match="locked"):
            enter(two)
        assert enter(two).is_pending

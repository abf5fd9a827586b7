"""Watching finds every loss between the right two roles, and accuses nobody who did nothing."""

import json
import tracemalloc

import pytest

from helpers.devices import NOW, Words, World, by_mixes, by_people
from helpers.played import PlayedRound
from mixtally.device.client.net import Diary, check_arrival, diary, prepare
from mixtally.device.client.net.entries import BundleState
from mixtally.device.client.net.seal import read_watched, seal_answer
from mixtally.device.client.net.trust import frame_of
from mixtally.device.contract.fields import fingerprint_of
from mixtally.device.wire.arrivals import ListFile, make_tagger
from mixtally.device.wire.manifest import (
    Piece,
    Receipt,
    read_manifest,
    write_manifest,
    write_receipt,
)
from mixtally.device.wire.note import sign_note

NAMES = ["mix-1", "mix-2", "collector"]


def world():
    return World(by_mixes(minimum_crowd=2, hops=2))


def report(played, **more):
    return check_arrival(played.entry, played.given.trusted, played.fetch, **more)


def states(found):
    return [(one.name, one.state) for one in found.roles]


def test_a_round_of_honest_roles_is_seen_at_every_role():
    found = report(PlayedRound(world()))
    assert states(found) == [(name, "yes") for name in NAMES]
    assert (found.lost, found.faults, found.ended) == ((), (), None)
    assert found.is_final


@pytest.mark.parametrize("hop", [1, 2])
def test_a_message_that_a_mix_drops_is_lost_after_it(hop):
    """It lists the message as received, and puts another in its place."""
    played = PlayedRound(world(), dropped_by=hop)
    found = report(played)
    after = [(name, "yes") for name in NAMES[:hop]]
    assert states(found) == after + [(name, "no") for name in NAMES[hop:]]
    (loss,) = found.lost
    assert (loss.after, loss.before, loss.messages, loss.by) == (NAMES[hop - 1], NAMES[hop], 1, "")
    assert found.faults == ()
    (loss,) = report(played, pieces=played.piece).lost
    assert loss.by == NAMES[hop - 1]  # its pieces do not have the message


@pytest.mark.parametrize("hop", [1, 2])
def test_a_list_without_a_message_that_went_on_is_false(hop):
    found = report(PlayedRound(world(), unlisted_by=hop))
    name = NAMES[hop - 1]
    assert dict(states(found))[name] == "no"
    assert found.lost == ()
    (fault,) = found.faults
    assert fault.startswith(f"{name}: its list lacks a message that {NAMES[hop]} ")


def test_a_collector_that_lists_too_little_is_found_by_the_pieces():
    """Its receipt says that it has all pieces of mix 2, and one of them has the message."""
    played = PlayedRound(world(), unlisted_by=3)
    (loss,) = report(played).lost
    assert (loss.after, loss.before, loss.by) == ("mix-2", "collector", "")
    (loss,) = report(played, pieces=played.piece).lost
    assert loss.by == "collector"
    played.receipts[1] = played.receipts[0]  # and without a receipt nobody is named
    assert report(played, pieces=played.piece).lost == ()


def resigned(place, change):
    """A round whose role at ``place`` has signed another list."""
    played = PlayedRound(world())
    played.lists[place] = [change(played.lists[place][0])]
    played.publish()
    return played


def rows(data):
    return [data[i : i + 8] for i in range(0, len(data), 8)]


CHEATS = {
    "unsorted": (lambda data: b"".join(rows(data)[::-1]), "tags-unsorted"),
    "swapped in the middle": (
        lambda data: b"".join([*rows(data)[:3], *rows(data)[4:2:-1], *rows(data)[5:]]),
        "tags-unsorted",
    ),
}


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("cheat", CHEATS)
def test_a_list_that_is_not_sorted_is_refused_and_named(place, cheat):
    change, why = CHEATS[cheat]
    found = report(resigned(place, change))
    (fault,) = found.faults
    assert fault == f"{NAMES[place]}: its list is not as it has signed: {why}"
    assert found.roles[place].state == "refused"
    assert found.lost == ()
    others = [one.state for i, one in enumerate(found.roles) if i != place]
    assert others == ["yes", "yes"]


@pytest.mark.parametrize("place", range(3))
def test_a_list_that_is_too_short_is_refused_and_named(place):
    found = report(resigned(place, lambda data: data[:-8]))
    assert all(fault.startswith(f"{NAMES[place]}: ") for fault in found.faults)
    assert found.faults
    assert found.lost == ()
    assert [one.state for one in found.roles[:place]] == ["yes"] * place


@pytest.mark.parametrize("filler", ["a foreign tag", "a tag twice"])
@pytest.mark.parametrize("place", [1, 2])
def test_a_tag_that_is_replaced_is_missed_by_its_watcher_alone(place, filler):
    played = PlayedRound(world())
    own = read_watched(played.entry.tags, 2)[0].tags[place - 1]
    other = next(row for row in rows(played.lists[place][0]) if row != own)
    put = other if filler == "a tag twice" else bytes(8)
    several = [put if row == own else row for row in rows(played.lists[place][0])]
    played.lists[place] = [b"".join(sorted(several))]
    played.publish()
    found = report(played, pieces=played.piece)
    if place == 1:
        assert found.faults == ("mix-2: its list lacks a message that collector has received",)
    else:
        assert [one.by for one in found.lost] == ["collector"]


@pytest.mark.parametrize("place", [1, 2])
def test_lists_longer_than_the_contract_can_fill_are_refused_and_not_fetched(place):
    """A hostile mix signs numbers that nobody could have sent, and lists of gigabytes."""
    played, asked = PlayedRound(world()), []
    notes, invent = played.notes(), "{:064x}".format
    frame = frame_of(played.given.contract)
    for reason, most in (
        ("too-many-bundles", frame.most_bundles),
        ("too-many-messages", frame.most_messages[0][place - 1]),
    ):
        said, many = read_manifest(played.texts[place - 1]), most + 1
        sizes = [1 << 21] * (many >> 21) + [many % (1 << 21)]
        files = tuple(ListFile(invent(i), size) for i, size in enumerate(sizes))
        if reason == "too-many-bundles":
            said = said._replace(bundles=many, arrivals=(files,) if place == 1 else said.arrivals)
        else:
            pieces = tuple(Piece(*file) for file in files)
            made = said.parts[0]._replace(added=many - said.parts[0].received, pieces=pieces)
            said = said._replace(parts=(made,))
        bad = sign_note(write_manifest(said), played.world.signers[place - 1])
        played.notes = lambda bad=bad: [*notes[: place - 1], bad, *notes[place:]]

        def fetch(address, most):
            asked.append(address)
            return played.fetch(address, most)

        found = check_arrival(played.entry, played.given.trusted, fetch)
        name = NAMES[place - 1]
        assert found.faults == (f"{name}: its manifest cannot be true: {reason}",)
        assert found.roles[place - 1].state == "refused"
        assert found.lost == ()
    honest = 2 * (place - 1)  # lists of the mix before, which are read both times
    assert len([one for one in asked if "/pieces/" in one]) == honest


def test_a_list_of_another_round_has_no_tag_of_this_one():
    class Other(World):
        def round(self, number=2, now=NOW, **changes):
            return super().round(number, now, **changes)

    played, other = PlayedRound(world()), PlayedRound(Other(world().plan))
    played.lists[1] = other.lists[1]
    played.publish()
    assert report(played).faults == ("mix-2: its list lacks a message that collector has received",)
    name = read_manifest(played.texts[1]).arrivals[0][0].sha256
    played.files[name] = PlayedRound(world()).lists[1][0]
    (fault,) = report(played).faults  # served in place of the one that it has signed
    assert fault == "mix-2: its list is not as it has signed: piece-differs"


@pytest.mark.parametrize("name", NAMES)
def test_a_silent_role_is_no_loss(name):
    """Its notes are known from the others; its list is not."""
    played = PlayedRound(world())
    played.silent = {name}
    found = report(played)
    assert dict(states(found)) == {one: "no answer" if one == name else "yes" for one in NAMES}
    assert (found.lost, found.faults, found.is_final) == ((), (), False)


def test_a_loss_past_a_silent_role_names_both_ends():
    played = PlayedRound(world(), dropped_by=1)
    played.silent = {"mix-2"}
    (loss,) = report(played, pieces=played.piece).lost
    assert (loss.after, loss.before, loss.by) == ("mix-1", "collector", "")


def test_all_roles_are_silent():
    played = PlayedRound(world())
    played.silent = set(NAMES)
    assert states(report(played)) == [(name, "no answer") for name in NAMES]
    played.silent, played.notes = set(), list
    assert states(report(played)) == [(name, "no answer") for name in NAMES]


def test_answers_that_are_no_notes_are_ignored():
    played = PlayedRound(world())
    honest = played.fetch
    for bad in (b"", b"[" * 100_000, b"{}", b"[1, null]", b'["x", "\\ud800"]', b"\xff"):

        def fetch(address, most, bad=bad):
            mine = address.startswith("https://mix-2") and address.endswith("/manifests")
            return bad if mine else honest(address, most)

        found = check_arrival(played.entry, played.given.trusted, fetch)
        assert states(found) == [(name, "yes") for name in NAMES]


def test_a_mix_that_signs_two_manifests_is_named():
    played = PlayedRound(world())
    other = write_manifest(read_manifest(played.texts[1])._replace(overruled=("mix-1",)))
    notes = played.notes()
    played.notes = lambda: [*notes, sign_note(other, played.world.signers[1])]
    found = report(played)
    assert found.faults == ("mix-2: it has signed two manifests of this round",)
    assert [one.state for one in found.roles] == ["yes", "refused", "no answer"]


def served_in_part(place, *more):
    """A round of three mixes, in which the mix at ``place`` is silent and the one before shows
    another manifest than the one that it has sent.
    """
    played = PlayedRound(World(by_mixes(minimum_crowd=2, hops=3)))
    manifests, receipts = played.notes()[:3], played.notes()[3:]
    shown = read_manifest(played.texts[place - 1])._replace(overruled=("collector",))
    text, signers = write_manifest(shown), played.world.signers
    manifests[place - 1] = sign_note(text, signers[place - 1])
    receipts += [sign_note(make(fingerprint_of(text)), signers[place]) for make in more]
    played.notes = lambda: [*manifests, *receipts]
    played.silent = {f"mix-{place + 1}"}
    return report(played)


@pytest.mark.parametrize("place", [1, 2])
def test_a_mix_that_shows_another_manifest_than_it_sent_accuses_nobody_else(place):
    """The next mix, which has the manifest that was sent, is silent."""
    found = served_in_part(place)
    before, after = f"mix-{place}", f"mix-{place + 1}"
    assert found.faults == (f"{before} or {after}: the manifest of {after} follows another one",)
    assert [one.state for one in found.roles][place:] == ["no answer"] * (4 - place)
    assert not found.is_final


@pytest.mark.parametrize("place", [1, 2])
def test_a_mix_that_confirmed_another_manifest_than_it_names_is_accused(place):
    found = served_in_part(place, lambda digest: write_receipt(Receipt(digest, place + 1)))
    assert found.faults == (f"mix-{place + 1}: its manifest cannot be true: before-unfit",)


def test_an_answer_of_lists_uses_little_memory():
    """Lists of lists would use 24 times their length; what nobody has signed is not parsed."""
    played = PlayedRound(world())
    lists = "[" + "[]," * (1 << 20) + "[]]"
    honest, unsigned = played.fetch, json.dumps([lists + "\n"] * 3).encode()
    for bad in (lists.encode(), unsigned):

        def fetch(address, most, bad=bad):
            mine = address.startswith("https://mix-2") and address.endswith("/manifests")
            return bad if mine else honest(address, most)

        tracemalloc.start()
        try:
            found = check_arrival(played.entry, played.given.trusted, fetch)
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert states(found) == [(name, "yes") for name in NAMES]
        assert most < 6 * len(bad)


def test_a_destroyed_round_is_said_and_is_no_loss():
    played = PlayedRound(world())
    first = read_manifest(played.texts[0])
    ended = first._replace(destroyed="too-few", arrivals=(), parts=(first.parts[0]._replace(
        received=0, pieces=()),))  # fmt: skip
    played.texts = [write_manifest(ended)]
    played.receipts = [write_receipt(Receipt(fingerprint_of(played.texts[0]), 2))] * 2
    found = report(played)
    assert (found.ended, found.lost, found.faults, found.is_final) == ("too-few", (), (), True)


def test_a_bundle_that_was_never_confirmed_is_no_loss():
    played = PlayedRound(world())
    played.entry = played.entry._replace(tags=bytes(8) + bytes(2 + 16))
    assert [loss.before for loss in report(played).lost] == ["mix-1"]
    played.entry = played.entry._replace(state=BundleState.OVER)
    found = report(played)
    assert (found.lost, found.roles[0].state) == ((), "no")


def test_a_bundle_that_was_never_confirmed_is_no_loss_past_a_silent_mix():
    played = PlayedRound(world(), dropped_by=1)
    played.silent = {"mix-1"}
    assert [(loss.after, loss.before) for loss in report(played).lost] == [("", "mix-2")]
    played.entry = played.entry._replace(state=BundleState.OVER)
    assert report(played).lost == ()


def test_tags_of_padding_are_not_kept():
    """With a fake there are three messages, without two; inner tags are those of the layers."""
    given = World(by_people()).round()
    kept = {
        len(read_watched(seal_answer(given, "yes", Words(i), NOW, watch=True).tags, 2))
        for i in range(20)
    }
    assert kept == {2, 3}


def test_ordinary_devices_keep_the_tag_of_the_bundle_alone():
    given = world().round()
    made = seal_answer(given, "yes", Words(1), NOW)
    assert made.tags == make_tagger(given.digest, 1)(made.bundle)


def test_tags_are_erased_from_the_file(tmp_path):
    given = world().round()
    with Diary(tmp_path / "diary.db") as book:
        entry = prepare(book, given, "yes", Words(1), NOW, watch=True)
        tags = [tag for one in read_watched(entry.tags, 2) for tag in one.tags]
        assert entry.is_watched
        late = entry.closes + diary._MOST_WATCHED
        book.expire_entries(late - 1)
        assert book.entries()[0].is_watched
        book.expire_entries(late)
        (entry,) = book.entries()
    data = b"".join(path.read_bytes() for path in tmp_path.glob("diary.db*"))
    assert entry.tags in data
    assert not [tag for tag in tags if tag in data]

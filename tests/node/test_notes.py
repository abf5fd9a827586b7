"""Slots hold one text for ever, whatever ends the process, and every note is sent to all others."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixtally.device.contract.fields import fingerprint_of
from mixtally.device.wire.note import Signer, find_signers, sign_note
from mixtally.device.wire.problem import Problem
from mixtally.server.node.database import Database
from mixtally.server.node.disk import no_step
from mixtally.server.node.notes import Notes
from mixtally.server.node.refusal import ProblemError
from mixtally.server.node.signing_slots import Entry

OWN, OTHER, STRANGER = (Signer(name, name.encode() * 16) for name in ("me", "it", "x1"))
KEYS = {OWN.name: OWN.public, OTHER.name: OTHER.public}


class Killed(BaseException):
    """The process ends here."""


def entry(slot="s", kind="sheet"):
    return Entry(slot, kind, "c" * 64, 1)


def notes_in(tmp_path, step=None):
    return Notes(Database(tmp_path / "node.db", step or no_step))


def test_the_same_text_gives_the_same_signature_another_is_refused(tmp_path):
    notes = notes_in(tmp_path)
    note = notes.sign(entry(), b"one\n", OWN, ["it"])
    assert find_signers(note, KEYS) == {"me"}
    assert notes.sign(entry(), b"one\n", OWN, ["it"]) == note
    with pytest.raises(ProblemError) as refused:
        notes.sign(entry(), b"two\n", OWN, ["it"])
    assert refused.value.problem is Problem.ANOTHER_NOTE
    assert len(notes.list_unsent()) == 1


def test_slots_outlive_the_process(tmp_path):
    note = notes_in(tmp_path).sign(entry(), b"one\n", OWN, ["it"])
    again = notes_in(tmp_path)
    assert again.sign(entry(), b"one\n", OWN, ["it"]) == note
    with pytest.raises(ProblemError):
        again.sign(entry(), b"two\n", OWN, ["it"])


@pytest.mark.parametrize("where", ["before", "after"])
def test_a_process_killed_beside_the_commit_signs_one_text(tmp_path, where):
    def step(name):
        if name == f"{where} sign sheet":
            raise Killed

    with pytest.raises(Killed):
        notes_in(tmp_path, step).sign(entry(), b"one\n", OWN, ["it"])
    again = notes_in(tmp_path)
    if where == "before":  # nothing left, so another text may come
        assert again.list_unsent() == []
        again.sign(entry(), b"two\n", OWN, ["it"])
    else:
        with pytest.raises(ProblemError):
            again.sign(entry(), b"two\n", OWN, ["it"])
        assert again.sign(entry(), b"one\n", OWN, ["it"]) == sign_note(b"one\n", OWN)
    assert len(again.list_unsent()) == 1


def test_what_stands_beside_is_written_with_the_signature_or_not_at_all(tmp_path):
    notes = notes_in(tmp_path)
    beside = "INSERT INTO overruled VALUES (?, ?)", ("c", "n")
    notes.sign(entry(), b"one\n", OWN, [], beside)
    notes.sign(entry(), b"one\n", OWN, [], beside)  # not a second time
    assert notes.database.rows("SELECT * FROM overruled") == [("c", "n")]


@settings(max_examples=20)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("123"), st.booleans())))
def test_no_schedule_of_signing_and_starting_again_signs_two_texts(tmp_path_factory, schedule):
    place, held = tmp_path_factory.mktemp("notes"), {}
    notes = notes_in(place)
    for slot, text, restart in schedule:
        if restart:
            notes.database.close()
            notes = notes_in(place)
        wanted = held.setdefault(slot, text)
        try:
            note = notes.sign(entry(slot), f"{slot}{text}\n".encode(), OWN, [])
        except ProblemError:
            assert text != wanted
        else:
            assert text == wanted
            assert note == sign_note(f"{slot}{text}\n".encode(), OWN)
    notes.database.close()


def test_others_have_slots_too(tmp_path):
    notes = notes_in(tmp_path)
    assert notes.remember(entry(), sign_note(b"one\n", OTHER), "it")
    assert not notes.remember(entry(), sign_note(b"one\n", OTHER), "it")
    with pytest.raises(ProblemError):
        notes.remember(entry(), sign_note(b"two\n", OTHER), "it")
    notes.sign(entry(), b"two\n", OWN, [])  # a slot of its own
    assert notes.list_signed_by("it") == [fingerprint_of(b"one\n")]
    assert notes.slots_of("it") == {fingerprint_of(b"one\n")}


def test_signatures_are_joined_and_strangers_left_out(tmp_path):
    notes = notes_in(tmp_path)
    notes.sign(entry(), b"one\n", OWN, [])
    both = notes.merge(sign_note(b"one\n", STRANGER, OTHER), KEYS)
    assert both == sign_note(b"one\n", OWN, OTHER) == notes.merge(b"one\n", KEYS)
    assert notes.list_signed_by("it") == notes.list_signed_by("me") == [fingerprint_of(both)]


def test_errands_stay_until_they_are_done(tmp_path):
    notes = notes_in(tmp_path)
    note = notes.sign(entry(), b"one\n", OWN, ["a", "b"])
    found = fingerprint_of(note)
    assert notes.list_untried(found) == ["a", "b"]
    first, second = notes.list_unsent()
    notes.record_try(first, done=False)
    notes.record_try(second, done=True)
    again = notes_in(tmp_path)
    assert [(one.role, one.tries) for one in again.list_unsent()] == [("a", 1)]
    assert again.list_untried(found) == []

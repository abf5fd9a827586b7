"""The window of a round as a file, and the shares of its lock."""

import pytest

from mixtally.device.wire.bundle import PartShape
from mixtally.errors import DataError
from mixtally.server.mix import window as room
from mixtally.server.mix.intake import read_bodies
from mixtally.server.mix.window import (
    Window,
    acquire_share,
    announce,
    is_intake_over,
    list_announced,
    withdraw,
)

WINDOW = Window(
    contract="ab" * 32,
    round=3,
    shapes=(PartShape(2, 1, 50),),
    most_bundles=40,
    admission="open",
    opens=5,
    closes=9,
)


def test_a_share_keeps_the_round_from_being_quiet(tmp_path):
    folder = tmp_path / WINDOW.round_id
    announce(folder, WINDOW)
    announce(folder, WINDOW)
    assert list_announced(tmp_path) == [folder]
    held, other = acquire_share(folder), acquire_share(folder)
    assert held.window == other.window == WINDOW
    withdraw(folder)
    withdraw(folder)
    assert not held.is_window_open()
    assert not is_intake_over(folder)
    held.release()
    assert not is_intake_over(folder)
    other.release()
    assert is_intake_over(folder)
    assert acquire_share(folder) is None
    assert is_intake_over(tmp_path / "nobody was ever let in")


def test_a_round_whose_window_stands_is_not_quiet(tmp_path):
    announce(tmp_path / WINDOW.round_id, WINDOW)
    assert not is_intake_over(tmp_path / WINDOW.round_id)


def test_a_window_that_goes_while_a_share_is_taken(tmp_path, monkeypatch, plant):
    folder = tmp_path / WINDOW.round_id
    announce(folder, WINDOW)

    def locked(honest, where, *, exclusive):
        place = honest(where, exclusive=exclusive)
        withdraw(where)
        return place

    plant(room, "_acquire_lock", locked)
    assert acquire_share(folder) is None
    monkeypatch.undo()
    assert is_intake_over(folder)  # the lock was given back


@pytest.mark.parametrize(
    ("before", "after"), [(b"{", b""), (b'"round":3', b'"round":4'), (b'"opens":5,', b"")]
)
def test_a_window_of_another_form_ends_the_process(tmp_path, before, after):
    folder = tmp_path / WINDOW.round_id
    announce(folder, WINDOW)
    path = folder / "window"
    path.write_bytes(path.read_bytes().replace(before, after))
    with pytest.raises(DataError, match="the window of its folder's round"):
        acquire_share(folder)
    path.unlink()
    assert is_intake_over(folder)


def test_a_file_that_was_never_finished_holds_nothing(tmp_path):
    """Who makes it may be killed before there is a table in it."""
    (tmp_path / "intake-7.db").touch()
    assert list(read_bodies(tmp_path)) == []

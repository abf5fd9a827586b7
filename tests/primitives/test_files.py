"""Files read whole and replaced whole: no device is read, no name or leftover stays behind."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from mixtally.errors import DataError
from mixtally.lab.memoization import device_key
from mixtally.model.memoized_plan import make_memoized_plan
from mixtally.model.question import Question
from mixtally.primitives.chance import SecureChance
from mixtally.primitives.files import read_whole, write_atomically


def kept(folder, bins, name="ann.key"):
    """The key in a file; another number of bins is another memory, and is written down."""
    plan = make_memoized_plan(Question(name="color", bins=bins), 0.5, 0.0, 1.0)
    return device_key(folder / name, plan, SecureChance()).key


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/urandom", "/dev/full"])
@pytest.mark.parametrize("piped", [False, True])
def test_a_device_is_not_read(tmp_path, path, piped):
    link = tmp_path / "link"
    link.symlink_to(path)
    with pytest.raises(OSError, match="a device, pipe or socket"):
        read_whole(link, piped=piped)


def test_a_pipe_is_read_where_it_may_be_and_to_its_end_only():
    reading, writing = os.pipe()
    os.write(writing, b"some")
    os.close(writing)
    path = Path(f"/dev/fd/{reading}")
    with pytest.raises(OSError, match="a device, pipe or socket"):
        read_whole(path)
    assert read_whole(path, piped=True) == b"some"
    os.close(reading)


def test_what_has_no_end_is_given_up(tmp_path):
    endless = tmp_path / "endless"
    with endless.open("wb") as file:
        file.truncate(1 << 41)  # all zeros, none of them on the disk
    with pytest.raises(OSError, match="more than 1,073,741,824 bytes"):
        read_whole(endless)
    with subprocess.Popen(["yes"], stdout=subprocess.PIPE) as talker:
        path = tmp_path / "talker"
        path.symlink_to(f"/dev/fd/{talker.stdout.fileno()}")
        with pytest.raises(OSError, match="more than 67,108,864 bytes"):
            read_whole(path, piped=True)
        talker.terminate()


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from primitives.test_files import kept
os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
kept(Path(sys.argv[1]), 8)
"""


def killed(folder):
    tests = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", KILLED, folder, tests], capture_output=True, timeout=300, check=False
    )
    assert done.returncode == -signal.SIGKILL, done.stderr


def test_what_a_killed_process_left_is_gone_with_the_next_report(tmp_path):
    first = kept(tmp_path, 7)
    killed(tmp_path)
    assert len(list(tmp_path.iterdir())) == 2
    assert kept(tmp_path, 7) == first  # nothing new is written
    assert [path.name for path in tmp_path.iterdir()] == ["ann.key"]


def test_what_a_living_process_is_writing_stays(tmp_path, plant):
    """While one writes nobody else comes in: its file lies there until it has moved it."""
    writing, go_on, first = threading.Event(), threading.Event(), []

    def slow(honest, place):
        if not first:
            first.append(place)
            writing.set()
            assert go_on.wait(30)
        honest(place)

    plant(os, "fsync", slow)
    told = {}

    def ask(bins):
        told[bins] = kept(tmp_path, bins)

    one, other = (threading.Thread(target=ask, args=(bins,)) for bins in (7, 8))
    one.start()
    assert writing.wait(30)
    other.start()
    other.join(0.2)
    assert other.is_alive()
    assert [path.name for path in tmp_path.iterdir()] == [".ann.key.part"]
    go_on.set()
    one.join(30)
    other.join(30)
    assert told == {bins: kept(tmp_path, 7) for bins in (7, 8)}
    assert len((tmp_path / "ann.key").read_text().splitlines()) == 4


def test_a_key_is_one_under_every_symbolic_link(tmp_path):
    (tmp_path / "there").mkdir()
    for new, folder, name in ((8, "there", "m"), (9, ".", "absolute"), (10, ".", "relative")):
        if folder == ".":
            target = tmp_path / "there" / "m" if name == "absolute" else "there/m"
            (tmp_path / name).symlink_to(target)
        said = [kept(tmp_path / folder, bins, name) for bins in (7, new)]
        assert said == [kept(tmp_path / "there", bins, "m") for bins in (7, new)]
        assert len(set(said)) == 1
    assert (tmp_path / "relative").is_symlink()


def test_a_file_of_two_names_is_not_replaced(tmp_path):
    kept(tmp_path, 7)
    other = tmp_path / "other"
    other.hardlink_to(tmp_path / "ann.key")
    before = other.read_bytes()
    for call in (
        lambda: kept(tmp_path, 7),
        lambda: write_atomically(tmp_path / "ann.key", b"", what="it"),
    ):
        with pytest.raises(DataError, match="expected a file with one name"):
            call()
    assert other.read_bytes() == before


def test_links_in_a_circle_lead_nowhere(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(DataError):
        kept(tmp_path, 7, "a")


def test_threads_that_write_one_file_do_not_disturb_each_other(tmp_path):
    path, errors = tmp_path / "state.json", []
    start = threading.Barrier(4)

    def write(data):
        try:
            start.wait()
            for _ in range(50):
                write_atomically(path, data, what="state")
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(bytes([one]) * 1000,)) for one in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert path.read_bytes() in {bytes([one]) * 1000 for one in range(4)}
    assert [found.name for found in tmp_path.iterdir()] == ["state.json"]

"""What is kept of a round for ever: written once, read as it was."""

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from msgspec.structs import replace

from mixtally.errors import DataError
from mixtally.primitives.wide import make_numbers, to_plain
from mixtally.server.collector.stored import Results, StoredCharge, StoredPartTally, StoredTally

CHARGE = StoredCharge(
    name="home-page",
    serial=1,
    contract="f" * 64,
    round=1,
    sheet="a" * 64,
    manifest="b" * 64,
    epsilon=1.0,
    delta=1e-6,
    collections=3,
)
PART = StoredPartTally(
    came=7, messages=5, counts=[2, 3], codes=None, pairs=[[2, 1], [1, 3]], dropped={"x": 2}
)
COUNTED = StoredTally(contract="f" * 64, round=1, manifest="b" * 64, parts=(PART,))


def test_a_round_has_one_charge(tmp_path):
    results = Results(tmp_path)
    assert results.charges() == []
    results.charge("r-1", CHARGE)
    results.charge("r-1", CHARGE)
    with pytest.raises(DataError, match="expected one batch, got a second one"):
        results.charge("r-1", replace(CHARGE, manifest="c" * 64))
    results.charge("r-2", replace(CHARGE, round=2))
    assert Results(tmp_path).charges() == [CHARGE, replace(CHARGE, round=2)]


def test_of_two_threads_one_charges_a_round(tmp_path, monkeypatch):
    """Both look before either writes, if nothing prevents it: the barrier waits for the second."""
    results, both = Results(tmp_path), threading.Barrier(2, timeout=0.5)
    read = Results.read_charge

    def read_and_wait(self, round_id):
        found = read(self, round_id)
        with contextlib.suppress(threading.BrokenBarrierError):
            both.wait()
        return found

    monkeypatch.setattr(Results, "read_charge", read_and_wait)
    with ThreadPoolExecutor(2) as pool:
        charges = [CHARGE, replace(CHARGE, manifest="c" * 64)]
        jobs = [pool.submit(results.charge, "r-1", one) for one in charges]
    errors = [job.exception() for job in jobs]
    assert errors.count(None) == 1
    assert "expected one batch, got a second one" in str(max(errors, key=bool))


def test_numbers_of_sixteen_bytes_are_read_as_they_were(tmp_path):
    codes = make_numbers([1, 1 << 64, (1 << 100) + 5], 1 << 127)
    part = replace(PART, counts=[1, 2, 3], codes=to_plain(codes), pairs=None)
    results = Results(tmp_path)
    results.keep("r-1", replace(COUNTED, parts=(part,)))
    (found,) = results.read_tally("r-1").parts
    assert (found.tally.codes == codes).all()
    assert found.tally.codes.dtype == codes.dtype


def test_a_tally_is_read_as_it_was(tmp_path):
    results = Results(tmp_path)
    assert results.read_tally("r-1") is None
    assert not results.has_tally("r-1")
    results.keep("r-1", COUNTED)
    assert results.has_tally("r-1")
    found = Results(tmp_path).read_tally("r-1")
    assert found == COUNTED
    tally = found.parts[0].tally
    assert (tally.counts.tolist(), tally.messages) == ([2, 3], 5)
    assert tally.pairs.tolist() == [[2, 1], [1, 3]]
    assert replace(PART, pairs=None).tally.pairs is None
    assert tally.codes is None


def test_a_tally_of_what_came_alone_is_read_as_it_was(tmp_path):
    """Of planes in eight bytes: their numbers and how often each came."""
    few = replace(PART, codes=[7, 1 << 62], pairs=None)
    Results(tmp_path).keep("r-1", replace(COUNTED, parts=(few,)))
    tally = Results(tmp_path).read_tally("r-1").parts[0].tally
    codes, counts = tally.nonzero_counts
    assert (codes.tolist(), counts.tolist(), tally.messages) == ([7, 1 << 62], [2, 3], 5)


def test_a_result_is_served_as_it_was_written(tmp_path):
    results = Results(tmp_path)
    assert (results.read_result("r-1"), results.is_released("r-1")) == (None, None)
    results.publish("r-1", {"released": False, "refusal": "why"})
    assert results.is_released("r-1") is False
    assert b'"refusal": "why"' in results.read_result("r-1")
    results.publish("r-2", {"released": True})
    assert results.is_released("r-2") is True
    results.publish("r-3", {"released": False, "received": {"contributors": 12, "parts": []}})
    assert [results.people(f"r-{i}") for i in (1, 3, 4)] == [None, 12, None]


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"version": 1, "more": 2}'])
def test_an_altered_file_is_refused(tmp_path, text):
    results = Results(tmp_path)
    results.charge("r-1", CHARGE)
    (tmp_path / "results" / "r-1" / "charge.json").write_text(text)
    with pytest.raises(DataError, match="the charge that was stored"):
        results.read_charge("r-1")


def test_files_are_for_their_owner_alone(tmp_path):
    Results(tmp_path).keep("r-1", COUNTED)
    assert (tmp_path / "results").stat().st_mode & 0o077 == 0
    assert (tmp_path / "results" / "r-1" / "tally.json").stat().st_mode & 0o077 == 0

"""Pieces of work: the same results whoever does them, and processes only where they save time."""

import os
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest

from mixtally.cli import common, options
from mixtally.errors import DataError
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.mechanism import InClear, UniformFakes
from mixtally.model.planes import Planes
from mixtally.model.word_list import WordList
from mixtally.protocol.estimate import listed_words
from mixtally.protocol.estimate.listed_words import tally_listed_words
from mixtally.server.engine import workers
from mixtally.server.engine.workers import ParallelMap, _estimate
from reference.played import play

OVER = Planes(223, 3)
WORDS = WordList(("a", "b", "c", "d"), np.array([12, 400, 123_456, 888]))


def who(piece):
    return piece, os.getpid()


def killed(piece):
    if piece:
        os._exit(9)
    return piece


def test_pieces_are_worked_on_by_processes_and_come_in_order():
    told = []
    found = list(ParallelMap(2, "words", lambda *how: told.append(how), worth=0.0)(who, range(40)))
    assert [piece for piece, _ in found] == list(range(40))
    assert found[0][1] == os.getpid()
    assert os.getpid() not in {process for _, process in found[1:]}
    assert told == [("words", done, 40) for done in range(1, 41)]


@pytest.mark.parametrize(("processes", "worth"), [(1, 0.0), (2, 3600.0)])
def test_work_that_no_process_makes_faster_stays_here(processes, worth):
    found = list(ParallelMap(processes, "words", worth=worth)(who, range(40)))
    assert {process for _, process in found} == {os.getpid()}


@pytest.mark.parametrize(("processes", "used"), [(0, "1 core"), (1, "1 core"), (2, "2 cores")])
def test_a_sentence_says_beforehand_how_long_it_takes(monkeypatch, processes, used):
    """It comes once, between the piece that is timed and all others.

    Each look at this clock is a tenth of a second after the one before.
    """
    clock = (number / 10 for number in count())
    monkeypatch.setattr(workers, "time", SimpleNamespace(perf_counter=clock.__next__))
    said = []
    across = ParallelMap(
        processes,
        "words",
        lambda *how: said.append(how[1]),
        note=said.append,
        worth=0.0,
    )
    list(across(who, range(4)))
    first, sentence, *others = said
    assert (first, others) == (1, [2, 3, 4])
    assert sentence == f"counting words takes about 0 seconds on {used}"


def test_nothing_is_said_of_short_work():
    said = []
    list(ParallelMap(2, "words", note=said.append, worth=3600.0)(who, range(40)))
    assert said == []


@pytest.mark.parametrize(
    ("seconds", "cores", "told"),
    [
        (9.0, 1, "9 seconds on 1 core"),
        (230.0, 2, "115 seconds on 2 cores"),
        (600.0, 2, "5 minutes on 2 cores"),
        (72_000.0, 4, "5 hours on 4 cores"),
    ],
)
def test_a_time_has_a_unit_that_people_can_read(seconds, cores, told):
    assert _estimate("words", seconds, cores) == f"counting words takes about {told}"


def test_the_command_line_says_it_on_standard_error_unless_it_is_quiet(capsys, monkeypatch):
    monkeypatch.setattr(options, "cores", lambda: 1)
    across = options.make_parallel_map(lambda *_: None)
    across._worth = 0.0
    for quiet in (True, False):
        common.set_quiet(quiet)
        list(across(who, range(2)))
        assert ("takes about" in capsys.readouterr().err) is not quiet


def test_a_killed_process_is_refused_in_words():
    with pytest.raises(DataError, match="one that was killed"):
        list(ParallelMap(2, "words", worth=0.0)(killed, range(4)))


def test_listed_words_are_counted_alike_in_one_piece_and_by_processes(monkeypatch):
    made = InClear(bins=OVER.points, fakes=UniformFakes(900), planes=OVER)
    tally = play(made, np.repeat(WORDS.lines, (2000, 900, 500, 100)), SeededChance(7))
    whole, squares = tally_listed_words(OVER, tally, WORDS)
    monkeypatch.setattr(listed_words, "_PRODUCTS", 1)  # pieces of as few messages as there may be
    pieces = []
    across = ParallelMap(2, "words", lambda *how: pieces.append(how[-1]), worth=0.0)
    shared, sum_of_squares = tally_listed_words(OVER, tally, WORDS, across=across)
    assert pieces == [len(pieces)] * len(pieces)
    assert len(pieces) > 2
    assert shared.counts.tolist() == whole.counts.tolist()
    assert (shared.messages, sum_of_squares) == (whole.messages, squares)

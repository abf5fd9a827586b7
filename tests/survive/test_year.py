"""Short years of rounds with accidents: nothing acknowledged is lost or counted twice.

`make soak` plays a whole year. Here each seed has the accidents of a year in 20 rounds.
"""

import json
import os
import subprocess
import sys

import pytest

from helpers.roles_in_folders import ENVIRONMENT
from survive import threads
from survive.year_accidents import ACCIDENTS, plan_accidents
from survive.year_report import MOST_FOLDER, find_violations

ROUNDS = 20
PACE = 1.6
"""Seconds of a round: a machine may become twice as busy as it was at the beginning."""
SECONDS = 3600
"""Patience with a busy machine; the soak itself is bounded too."""


def year(place, *more):
    """A year in a process of its own: its exit status, its report, and what it printed."""
    report = place / "report.json"
    given = [*more, "--pace", PACE, "--json", report, "--keep", place / "kept"]
    done = subprocess.run(
        [sys.executable, "-m", "survive.year", *map(str, given)],
        env=os.environ | ENVIRONMENT | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return done.returncode, json.loads(report.read_text()), done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 6))
def test_nothing_is_lost_in_a_short_year(tmp_path, seed):
    status, found, said = year(tmp_path, "--rounds", ROUNDS, "--seed", seed)
    assert (status, found["violations"]) == (0, []), said
    assert found["acknowledged"] > 20, said
    assert set(found["accidents"]) >= {*ACCIDENTS, "rotation"} - {"outage"}, said


@pytest.mark.slow
def test_planted_faults_are_found(tmp_path):
    status, found, said = year(tmp_path, "--rounds", 8, "--seed", 1, "--plant")
    assert status == 1, said
    for word in ("lost: ", "counted twice: ", "mix-2 ended by itself", "RuntimeError: planted"):
        assert any(word in one for one in found["violations"]), (word, said)


@pytest.mark.seconds
def test_rounds_of_threads_that_share_a_process():
    assert threads.play(10, SECONDS) == 10


def report(**changes):
    """A report in which nothing is wrong."""
    fields = {"rounds": 365, "ends": {"released": 365}, "lost": [], "doubled": [], "strange": []}
    return fields | {"ended": [], "memory": {}, "folders": {}} | changes


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({}, None),
        ({"lost": [[3, 1]]}, "lost: 1"),
        ({"doubled": [[3, 1], [4, 1]]}, "counted twice: 2"),
        ({"strange": [3]}, "differ"),
        ({"ends": {"released": 300, "open": 65}}, "open"),
        ({"ends": {"released": 300, "refused": 65}}, "refused"),
        ({"ends": {"released": 50, "expired": 315}}, "fewer than"),
        ({"memory": {"mix-1": {"growth": 0.11}}}, "mix-1 grew by 11%"),
        ({"memory": {"mix-1": {"growth": 0.09}}}, None),
        ({"folders": {"mix-1": MOST_FOLDER + 1}}, "50 MB"),
        ({"ended": [["mix-1", 1, "DataError: x"]]}, "mix-1 ended by itself"),
        ({"ended": [["mix-1", 1, "OSError: [Errno 28] full"]]}, None),
    ],
)
def test_what_is_a_violation(changes, word):
    found = find_violations(report(**changes))
    assert bool(found) == (word is not None)
    assert word is None or word in found[0]


@pytest.mark.parametrize("rounds", [20, 365])
def test_every_accident_happens_and_the_last_tenth_is_quiet(rounds):
    for seed in range(20):
        planned = plan_accidents(rounds, seed)
        kinds = {kind for some in planned.values() for kind in some}
        assert kinds == set(ACCIDENTS) - ({"outage"} if rounds < 100 else set())
        assert rounds // 10 < min(planned) <= max(planned) <= 9 * rounds // 10

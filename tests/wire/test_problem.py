"""Problems: each has a path of its own that explains it, and says whether to send again."""

import json
import re
from pathlib import Path

import pytest

from mixtally.device.wire.problem import MEDIA_TYPE, PATH, Problem, problem_of_path

SPEC = Path(__file__).parents[2] / "SPEC.md"


@pytest.mark.parametrize("problem", Problem, ids=lambda one: one.name)
def test_a_problem_is_found_by_its_path_and_says_what_it_is(problem):
    assert problem.path.startswith(PATH)
    assert problem_of_path(problem.path) is problem
    said = json.loads(problem.body())
    assert said == {
        "type": problem.path,
        "title": problem.value.title,
        "status": problem.value.status,
    }
    assert problem.value.do


def test_the_page_lists_them_with_their_statuses():
    rows = re.findall(r"^\| (4\d\d|5\d\d) \| (.*) \|$", SPEC.read_text(), re.MULTILINE)
    named = {name: int(status) for status, names in rows for name in re.findall("`(.+?)`", names)}
    assert named == {one.path.removeprefix(PATH): one.value.status for one in Problem}


def test_no_two_are_alike():
    assert len({problem.path for problem in Problem}) == len(Problem.__members__) == 21
    assert len({problem.value.title for problem in Problem}) == 21


def test_the_same_bytes_are_sent_again_only_where_it_helps():
    again = {problem.name for problem in Problem if problem.is_retryable}
    assert again == {"TOO_EARLY", "TOO_SLOW", "BUSY", "NOT_READY", "NO_RESULT", "NO_ROOM"}
    assert {problem.value.status // 100 for problem in Problem if not problem.is_retryable} == {4}


def test_details_are_told():
    assert json.loads(Problem.NOT_AGREED.body("why"))["detail"] == "why"
    assert Problem.BUSY.body().endswith(b"}\n")
    assert MEDIA_TYPE == "application/problem+json"
    assert problem_of_path("/problems/none") is None

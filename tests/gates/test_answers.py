"""What may move between two files of answers, and what is named."""

import pytest

from bench.answers import ORDINARY, CommandAnswer, differences, numbers_of, read_answers, write

PLAN = f"{ORDINARY[0]} --json"
DELTA = "check delta --protocol flip-blank --json"
NUMBERS = {
    "protocol": "flip-blank", "delta": 9.9e-7, "delta_lower": 9.8e-7, "standard_error": 10.0,
}  # fmt: skip


def moved(command, seconds=1.0, status=0, **numbers):
    before = {command: CommandAnswer(1.0, 0, NUMBERS)}
    return differences(before, {command: CommandAnswer(seconds, status, NUMBERS | numbers)})


@pytest.mark.parametrize(
    ("command", "given", "named"),
    [
        (PLAN, {}, []),
        (PLAN, {"standard_error": 10.04}, []),
        (PLAN, {"standard_error": 10.06}, ["error 10 -> 10.06"]),
        (PLAN, {"protocol": "clear-uniform"}, ["flip-blank -> clear-uniform"]),
        (PLAN, {"seconds": 1.4}, []),
        (PLAN, {"seconds": 1.6}, ["1.00 s -> 1.60 s"]),
        (PLAN, {"status": 2}, ["exit 0 -> 2"]),
        (DELTA, {"seconds": 9.0}, []),
        (DELTA, {"delta": 9.85e-7}, []),
        (DELTA, {"delta": 9.7e-7}, ["delta 9.7e-07 below the truth, 9.8e-07"]),
        (DELTA, {"delta": 9.96e-7}, ["delta 9.9e-07 -> 9.96e-07"]),
    ],
)  # fmt: skip
def test_what_moves_further_than_it_may_is_named(command, given, named):
    assert moved(command, **given) == [f"{one}: {command}" for one in named]


def test_answers_are_kept_in_a_file(tmp_path):
    answers = {PLAN: CommandAnswer(0.5, 0, NUMBERS), DELTA: CommandAnswer(60.0, None, {})}
    write(tmp_path / "answers", answers)
    assert read_answers(tmp_path / "answers") == answers


def test_of_an_answer_its_numbers_are_kept():
    assert numbers_of(b'{"delta": 1e-6, "plan": "long", "fakes": 3}') == {"delta": 1e-6, "fakes": 3}
    assert numbers_of(b"") == {}


def test_there_are_forty_ordinary_requests():
    assert len(set(ORDINARY)) == len(ORDINARY) == 40

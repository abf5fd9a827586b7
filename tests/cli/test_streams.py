"""Results on standard output, one line a failure on standard error, nothing else on either."""

import json
import os

import pytest


@pytest.fixture
def asked(crowd):
    given = ("simulate", crowd / "crowd.csv", "--column", "color", "--seed", 1)
    return (*given, "--epsilon", 1, "--delta", "1e-6")


def test_a_run_that_succeeds_leaves_standard_error_empty(cli, asked):
    """Standard error is no terminal here, so there are no bars and no trace of them."""
    assert cli(*asked).err == ""


def test_json_is_all_there_is_on_standard_output(cli, asked):
    outcome = cli(*asked, "--json")
    assert outcome.out == json.dumps(json.loads(outcome.out), indent=1) + "\n"


def test_no_control_characters_are_printed_when_no_terminal_listens(cli, asked):
    outcome = cli(*asked)
    assert "\x1b" not in outcome.out + outcome.err
    assert "\r" not in outcome.out + outcome.err


def test_a_failure_while_playing_is_one_line(cli, asked):
    assert cli(*asked, "--level", 0).err.count("\n") == 1


def test_a_failure_after_playing_is_one_line(cli, asked, crowd, monkeypatch):
    def fsync(_):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", fsync)
    assert cli(*asked, "--out", crowd / "out").err.count("\n") == 1


def test_a_broken_privacy_number_exits_3_and_promises_nothing(cli, asked, monkeypatch):
    monkeypatch.setattr(
        "mixtally.accounting.divergence.clear_uniform.bracket", lambda *_, **__: broken()
    )

    def broken():
        from mixtally.accounting.numerics.bracket import bracket

        return bracket(float("nan"), cut=0.0)

    outcome = cli(*asked)
    assert (outcome.status, outcome.out) == (3, "")
    assert outcome.err.strip().count("\n") == 0
    assert "nothing may be promised from it" in outcome.err

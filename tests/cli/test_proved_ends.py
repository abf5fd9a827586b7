"""The ends that are stated are the proved ones, and of honest people alone."""

import json

from mixtally.cli import app
from mixtally.errors import AccountingError


def test_a_ledger_states_the_upper_end_of_what_was_spent(cli, plan_file, tmp_path):
    ledger = tmp_path / "me.ledger"
    assert cli("budget", "open", ledger, "--epsilon", 3, "--delta", "1e-5").status == 0
    assert cli("budget", "charge", ledger, plan_file, "--times", 2).status == 0
    facts = json.loads(cli("budget", "show", ledger, "--json").out)
    assert 0.0 <= facts["delta_lower"] < facts["delta"] <= facts["delta_target"]


def test_an_observer_of_sums_is_hidden_from_by_honest_people_alone(cli):
    law = ("--protocol", "flip-uniform", "--fakes", 1000, "--bins", 9, "--flip", 0.01)
    call = ("check delta", "--epsilon", 1, *law, "--observer", "sums", "--json")
    half = json.loads(cli(*call, "--users", 10_000, "--honest-share", 0.5).out)
    assert half["users_counted"] == 5_000
    assert half["fakes_counted"] == 500
    fewer = [500 if word == 1000 else word for word in call]
    assert half["delta"] == json.loads(cli(*fewer, "--users", 5_000).out)["delta"]


def test_a_number_that_cannot_be_right_is_no_success(cli, monkeypatch):
    def broken():
        raise AccountingError("divergence: expected a number in [0, 1], got -1")

    monkeypatch.setattr(app, "call", broken)
    outcome = cli("check delta")
    assert (outcome.status, outcome.out) == (3, "")
    assert "got -1" in outcome.err

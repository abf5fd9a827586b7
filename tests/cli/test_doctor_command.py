"""``mixtally batch doctor``: rates, and a round by them."""

import json

import pytest

from mixtally.server.engine.scale import PlannedRound, Rates, hop_costs


def test_the_rounds_follow_from_the_rates(cli):
    outcome = cli("batch doctor", "--json", "--envelopes", "1e7", "--hops", 2, "--fakes", 500)
    assert outcome.status == 0
    facts = json.loads(outcome.out)
    (told,) = facts["rounds"]
    planned = PlannedRound(**{name: told[name] for name in PlannedRound._fields})
    assert (planned.envelopes, planned.hops, planned.fakes) == (10**7, 2, 500)
    wanted = hop_costs(Rates(**facts["rates"]), planned)
    assert told["roles"] == [cost._asdict() for cost in wanted]


def test_three_rounds_are_shown_unless_one_is_named(cli):
    shown = cli("batch doctor").out
    assert "1,000,000,000" in shown
    assert shown.count("collector") == 3
    assert "to open an envelope" in shown


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--envelopes", 0),
        ("--envelopes", "1e13"),
        ("--fakes", -1),
        ("--hops", 0),
        ("--hops", 6),
        ("--message-bytes", 0),
        ("--bundle", 0),
        ("--cores", 0),
        ("--hours", 0),
        ("--hours", "nan"),
        ("--disk", "nowhere"),
    ],
)
def test_impossible_rounds(refused, option, value):
    assert option in refused("batch doctor", option, value)

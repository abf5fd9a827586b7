"""Who won a vote as it is shown: pages are whole, numbers the same everywhere."""

import csv
import dataclasses
import io
import json
import math
import re

import numpy as np
import pytest

from mixtally.app.options import build_options
from mixtally.app.outcome import Run
from mixtally.app.simulate import SimulateOptions, simulate
from mixtally.lab.data.population import Population
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.lab.simulation.study_document import document
from mixtally.lab.simulation.winner.sentences import (
    chance,
    deniability,
    describe_leader,
    radii,
    weaknesses,
)
from mixtally.model.question import Question
from mixtally.report.page import page
from mixtally.report.texts import files, whole_facts
from report.reader import Reader

SVG_NAME = "http://www.w3.org/2000/svg"


def checked(study):
    text = page(document(study, 20))
    reader = Reader(text)
    names = {name for name, _ in reader.attributes}
    assert not names & {"src", "href", "style"}
    assert "script" not in reader.tags
    assert set(re.findall(r"https?://[^\"'<\s]*", text)) <= {SVG_NAME}
    assert "nan" not in re.findall(r"[\w.]+", " ".join(v or "" for _, v in reader.attributes))
    return " ".join(reader.texts)


def make(truth, *, labels=None, name="choice", protocol=None, level=0.95, seed=1, blank=None):
    population = Population(
        Question(name=name, bins=len(truth), labels=labels), np.repeat(np.arange(len(truth)), truth)
    )
    options = build_options(SimulateOptions, {
        "winner": True, "epsilon": 1.0, "delta": 1e-6, "mix_fakes": True, "protocol": protocol,
    })  # fmt: skip
    run = Run(lab=Lab(SeededChance(seed)), source="Made up.", seed=seed, level=level)
    return simulate(options, population, run, blank=blank).study()


@pytest.mark.parametrize("protocol", ["flip-blank", "clear-uniform", "clear-shaped"])
@pytest.mark.parametrize("truth", [[900, 600], [700, 500, 300, 0], [60] * 40])
def test_the_page_is_whole_and_says_everything(truth, protocol):
    study = make(truth, protocol=protocol)
    text, won = checked(study), study.contest
    for said in (
        *deniability(won), *weaknesses(won), describe_leader(won, won.local), describe_leader(won,
            won.shuffle),
        radii(won),
    ):  # fmt: skip
        assert said in text


NASTY = ('<b>&"x', "</svg></title>", "&amp;", "plain")


def test_labels_are_escaped():
    study = make([500] * 4, labels=NASTY, name="<i>&column")
    text = checked(study)
    for written in (*NASTY, "<i>&column"):
        assert written in text


def test_the_twin_without_escaping_is_caught(monkeypatch):
    study = make([500] * 4, labels=NASTY)
    monkeypatch.setattr("mixtally.report.svg.escape", str)
    with pytest.raises(AssertionError):
        checked(study)


def test_json_and_csv_hold_the_same_numbers():
    study = make([900, 500, 100], labels=("a", 'b,"', "c"))
    told = document(study, 20).facts()["winner"]
    made = files(document(study, 20))
    whole = whole_facts(document(study, 20))
    assert whole["winner"] == told
    assert json.loads(made["result.json"]) == json.loads(json.dumps(whole))
    mark, text = made["winner.csv"].split("\n", 1)
    assert "holds raw counts" in mark
    lines = list(csv.DictReader(io.StringIO(text)))
    assert [line["version"] for line in lines] == ["local"] * 3 + ["shuffle"] * 3
    for line in lines:
        (row,) = [r for r in told[line["version"]]["results"] if r["option"] == line["option"]]
        assert float(line["share"]) == row["share"]
        assert (
            row["lower_simultaneous"] <= row["lower"] <= row["upper"] <= row["upper_simultaneous"]
        )
        assert row["share"] == pytest.approx(row["votes"] / 1500)
    assert told["true_winner"] == "a"
    assert told["local"]["delta"] == 0.0
    assert told["local"]["observer"] == "linked"
    assert told["shuffle"]["delta"] <= 1e-6


def test_privacy_numbers_are_rounded_to_their_own_side():
    study = make([900, 600])
    said = deniability(study.contest)[0]
    factor = float(re.search(r"at most ([\d.]+) times", said)[1])
    wrong = float(re.search(r"at least ([\d.]+) %", said)[1])
    assert math.e <= factor <= math.e * 1.001
    assert 0 <= 100 / (1 + math.e) - wrong < 0.1


def test_what_is_left_without_mixes_is_told_by_protocol():
    assert (
        "the message is the vote"
        in deniability(make([900, 600], protocol="clear-uniform").contest)[3]
    )
    assert "has epsilon = " in deniability(make([900, 600], protocol="flip-blank").contest)[3]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.99995, "> 99.99 %"), (1.0, "> 99.99 %"), (0.5, "50.00 %"), (0.0, "< 0.01 %")],
)
def test_no_chance_is_rounded_to_certainty(value, text):
    assert chance(value) == text


def test_levels_other_than_95_are_named():
    study = make([900, 600], level=0.9)
    text = checked(study)
    assert "By the 90 % intervals" in text
    assert not re.search(r"(?<![\d.])95 %", text)


def test_a_tie_names_no_winner():
    study = make([500, 500, 100], labels=("a", "b", "c"))
    told = document(study, 20).facts()["winner"]
    assert (told["true_winner"], told["true_winners"]) == (None, ["a", "b"])
    counts = dataclasses.replace(
        study.contest.shuffle.estimate, counts=np.array([500.0, 500.0, 9.0])
    )
    tied = dataclasses.replace(study.contest.shuffle, estimate=counts)
    assert describe_leader(study.contest, tied).startswith(
        "A tie of 'a' and 'b': each is the true winner with"
    )
    alone = document(make([900, 500], labels=("a", "b")), 20).facts()["winner"]
    assert (alone["true_winner"], alone["true_winners"]) == ("a", ["a"])
    assert (alone["shuffle"]["leader"], alone["shuffle"]["leaders"]) == ("a", ["a"])


def test_blank_ballots_are_counted_and_elect_nobody():
    given = {"labels": ("a", "b", "nobody")}
    study = make([300, 100, 600], **given, blank="nobody")
    told = document(study, 20).facts()["winner"]
    assert told["true_winner"] == told["shuffle"]["leader"] == "a"
    rows = {row["option"]: row for row in told["shuffle"]["results"]}
    assert rows["nobody"]["blank"]
    assert rows["nobody"]["votes"] > 500
    assert not rows["nobody"]["may_have_won"]
    assert rows["nobody"]["chance_to_have_won"] == 0.0
    assert "'nobody', are counted and elect nobody" in checked(study)
    asked = document(make([300, 100, 600], **given), 20).facts()[
        "winner"
    ]  # an option as others are
    assert asked["true_winner"] == "nobody"
    assert not any(row["blank"] for row in asked["shuffle"]["results"])

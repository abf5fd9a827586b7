"""CSV and JSON keep every digit, and say the same as the study."""

import csv
import io
import json

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from helpers.spreadsheet_formulas import read_back
from mixtally.accounting.baselines import central_standard_error, local_standard_error
from mixtally.lab.simulation.study_document import document
from mixtally.report import counts_view, texts
from mixtally.report.counts_view import CountsView
from simulation.studies import csv_text, facts, json_text, rows

TEXT = st.characters(codec="utf-8", exclude_categories=["Cc"], include_characters="\t\r\n")


def read_csv(text):
    mark, rows = text.split("\r\n", 1)
    assert mark == "# simulation: holds raw counts"
    return list(csv.DictReader(io.StringIO(rows, newline=""), strict=True))


def test_csv_round_trips_every_digit_in_the_order_of_the_bins(study):
    made = study([700, 300, 0, 20], projection="simplex")
    found, table = made.main_result.estimate, read_csv(csv_text(made))
    assert [int(row["bin"]) for row in table] == [0, 1, 2, 3]
    for row in table:
        i = int(row["bin"])
        assert float(row["estimate"]) == found.counts[i]
        assert float(row["simplex"]) == found.projected[i]
        assert float(row["standard_error"]) == found.standard_error
        assert (int(row["lower"]), int(row["upper"])) == (
            found.individual.lower[i], found.individual.upper[i],
        )  # fmt: skip
        assert (int(row["lower_simultaneous"]), int(row["upper_simultaneous"])) == (
            found.simultaneous.lower[i], found.simultaneous.upper[i],
        )  # fmt: skip
        assert int(row["truth"]) == made.truth.counts[i]
        assert row["above_zero"] == str(bool(found.simultaneous.lower[i] > 0))


@pytest.mark.seconds
@given(labels=st.lists(st.text(TEXT, min_size=1), min_size=2, max_size=2,
                       unique=True))  # fmt: skip
@example(labels=["0", "\r"])
@settings(max_examples=50, deadline=None)
def test_any_label_round_trips_through_csv_and_json(study, labels):
    made = study([700, 300], labels=tuple(labels), protocols=("clear-uniform",))
    table = read_csv(csv_text(made).encode().decode())
    assert {read_back(row["label"]) for row in table} == set(labels)
    (release,) = json.loads(json_text(made))["releases"]
    assert [row["label"] for row in release["estimates"]] == labels


def test_json_text_is_the_facts(study):
    made = study([700, 300, 0], projection="simplex", seed=3)
    told = json.loads(json_text(made))
    assert list(told)[:2] == ["simulation", "promise"]
    assert told.items() >= json.loads(json.dumps(facts(made))).items()


def test_the_twin_that_rounds_is_caught(study):
    made = study([700, 300, 0])
    rounded = [f"{row['estimate']:.6g}" for row in rows(made, made.main_result)]
    counts = made.main_result.estimate.counts.tolist()
    assert any(float(text) != count for text, count in zip(rounded, counts, strict=True))


def test_facts_hold_the_plan_its_fingerprint_and_the_other_models(study):
    made = study([700, 300], protocols=("clear-uniform", "flip-blank"), seed=3)
    told = facts(made)
    assert (told["title"], told["seed"], told["reason"]) == ("Colors, counted", 3, "Asked for.")
    assert told["central_standard_error"] == central_standard_error(
        1.0, sensitivity=1.0
    )  # two bins
    assert told["local_standard_error"] == local_standard_error(1.0, 1000, 2)
    for told_release, release in zip(told["releases"], made.releases, strict=True):
        result = release.result
        assert told_release.items() >= result.plan.facts().items()
        assert told_release["fingerprint"] == result.plan.fingerprint
        assert told_release["messages"] == result.messages
        errors = result.estimate.counts - made.truth.counts
        assert told_release["measured_error"] == pytest.approx(np.sqrt(np.mean(errors**2)))


def test_page_json_and_csv_make_the_rows_of_a_release_once(study, watch):
    made = study([700, 300], protocols=("clear-uniform", "flip-blank"))
    seen = watch(counts_view, "count_rows", most=2)
    texts.files(document(made, 20))
    assert len(seen) == 2


def test_above_zero_is_judged_on_all_bins_at_once(study):
    made = study([1000] + [0] * 99)
    told = [row["above_zero"] for row in rows(made, made.main_result)]
    assert told == (made.main_result.estimate.simultaneous.lower > 0).tolist()
    assert told[0] is True
    assert f"{sum(told)} of 100 are distinguishable from zero" in CountsView(
        made.main_result
    ).findings(0)

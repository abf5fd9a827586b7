"""Series of sets, bits, attributes and numbers: records sent whole, changes with intervals."""

from dataclasses import replace

import numpy as np
import pytest

from helpers.sampled import among
from mixtally.errors import InfeasibleError, PlanError
from mixtally.lab.data.population import Population
from mixtally.lab.data.timeline import Timeline
from mixtally.lab.data.turnover import simulate_turnover
from mixtally.lab.simulation.epochs import collect_epochs, plan_whole_records
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.rounding import round_timeline
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.guarantee import Guarantee
from mixtally.model.question import Kind, Question, make_attributes_question
from mixtally.planning import Planner, PlanRequest
from mixtally.planning.rounding_grid import round_to_grid
from mixtally.protocol.encode.bits import pack_vectors
from mixtally.protocol.encode.numbers import Points

GUARANTEE, SIZE, EPOCHS = Guarantee(epsilon=4.0, delta=1e-5), 3000, 3
RANGE = Points(0.0, 10.0)
PLANNER = Planner()
QUESTIONS = {
    "bit": Question(name="q", bins=1, kind=Kind.BITS),
    "bits": Question(name="q", bins=3, kind=Kind.BITS),
    "sets": Question(name="q", bins=6, kind=Kind.SET, max_set=2),
    "attributes": make_attributes_question("q", (3, 2)),
    "number": Question(name="q", bins=2),
}


def crowd(name):
    question = QUESTIONS[name]
    if name == "number":
        values = np.arange(SIZE) % 97 / 9.7
        return Population(question, np.zeros(SIZE, dtype=np.int64), values)
    bits = np.zeros((SIZE, question.bins), dtype=np.uint8)
    who = np.arange(SIZE)
    if question.kind is Kind.BITS:
        for i in range(question.bins):
            bits[:, i] = who % (i + 2) == 0
    else:
        bits[who, who % 3] = 1
        bits[who, 3 + who // 3 % (question.bins - 3)] = 1
    return Population(question, pack_vectors(bits.tobytes(), question.bins))


def timeline(name):
    return simulate_turnover(
        crowd(name), EPOCHS, join=0.3, leave=0.2, change=0.2, chance=SeededChance(1)
    )


def planned(line, **more):
    wish = PlanRequest(question=line.question, guarantee=GUARANTEE, users=int(line.users.min()),
                collections=EPOCHS, **more)  # fmt: skip
    if line.values is not None:
        wish = round_to_grid(wish, RANGE, PLANNER)
    return plan_whole_records(wish, PLANNER)[0]


def series(name, seed=3, **how):
    line, lab = timeline(name), Lab(SeededChance(seed), planner=PLANNER)
    plan = planned(line)
    line = round_timeline(line, plan, lab.chance)
    return line, collect_epochs(plan, line, GUARANTEE, lab, **how)


@pytest.mark.seconds
@pytest.mark.parametrize("counts_only", [False, True], ids=["messages", "counts"])
@pytest.mark.parametrize("name", QUESTIONS)
def test_every_kind_is_collected_epoch_by_epoch(name, counts_only):
    """False alarm below 10^-6: 24 counts and as many changes at most, each within six errors."""
    line, trend = series(name, counts_only=counts_only)
    assert trend.truth.counts.shape == (EPOCHS, line.question.bins)
    assert trend.truth.counts.tolist() == [line.crowd(i).truth.tolist() for i in range(EPOCHS)]
    error = max(result.estimate.standard_error for result in trend.series.results)
    assert np.abs(trend.series.counts - trend.truth.counts).max() < 6 * error
    for step in trend.steps:
        found, rise = step.change, trend.true_change(step)
        assert np.abs(found.counts - rise).max() < 6 * found.standard_error
    assert trend.certificate.upper <= GUARANTEE.delta
    assert trend.certificate.epsilon == GUARANTEE.epsilon


@pytest.mark.parametrize("name", among(["bits", "sets", "number"], ["number"]))
def test_the_twin_with_epochs_in_another_order_is_found(name):
    """Planted: people are filed under the wrong epoch, with other values than before."""
    _, trend = series(name)
    moved = replace(trend.truth, counts=trend.truth.counts[::-1] + np.array([[0], [300], [0]]))
    moved = replace(trend, truth=moved)
    error = max(result.estimate.standard_error for result in trend.series.results)
    assert np.abs(moved.series.counts - moved.truth.counts).max() > 6 * error


@pytest.mark.seconds
def test_vectors_sent_twice_change_in_people():
    line = timeline("bits")
    plan = planned(line, messages_per_user=2)
    assert plan.parts[0].repeats == 2
    trend = collect_epochs(plan, line, GUARANTEE, Lab(SeededChance(4)))
    for step in trend.steps:
        found, rise = step.change, trend.true_change(step)
        assert np.abs(found.counts - rise).max() < 6 * found.standard_error
        width = found.individual.upper - found.individual.lower
        assert width.max() < 5 * found.standard_error  # of people, not of messages


def test_means_of_numbers_are_told_with_their_changes():
    _, trend = series("number")
    means, changes = trend.series.figures
    assert [row.label for row in means.rows] == list(trend.epochs)
    assert [row.label for row in changes.rows] == ["1 to 2", "2 to 3", "1 to 3"]
    true = (*trend.truth.figures["means"], *trend.truth.figures["mean_changes"])
    for row, truth in zip((*means.rows, *changes.rows), true, strict=True):
        assert row.lower <= truth <= row.upper
    assert (means.rows[0].resolution, changes.rows[0].resolution) == (None, None)
    assert means.rows[0].standard_error < 0.05
    found = [row.estimate for row in means.rows]
    assert changes.rows[2].estimate == pytest.approx(found[2] - found[0])


def test_the_records_of_an_epoch_are_those_of_its_people():
    line, first = timeline("bits"), crowd("bits")
    assert np.array_equal(line.crowd(0).records, first.records)
    assert line.crowd(0).values is None
    numbers, _ = series("number")
    one = numbers.crowd(1)
    step = one.grid.step
    assert np.abs(one.grid.values[one.records] - one.values).max() < step
    assert one.grid == numbers.grid


def test_records_that_only_fit_split_are_refused():
    with pytest.raises(InfeasibleError):
        planned(timeline("bits"), protocol="clear-uniform", messages_per_user=9)


def test_a_plan_of_another_kind_is_refused():
    numbers, sets = timeline("number"), timeline("sets")
    with pytest.raises(PlanError, match="rounded to the grid of the plan"):
        collect_epochs(planned(numbers), sets, GUARANTEE, Lab(None))


def test_means_need_numbers():
    line = timeline("number")
    plan = planned(line)
    bare = Timeline(plan.question, line.epochs, line.codes, line.epoch_of_answer, line.people)
    for other in (bare, line, replace(bare, grid=plan.grid)):
        with pytest.raises(PlanError, match="rounded to the grid of the plan"):
            collect_epochs(plan, other, GUARANTEE, Lab(SeededChance(3)))

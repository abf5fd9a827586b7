"""Collections of which devices send some slots of a record: played and concluded."""

from dataclasses import replace

import numpy as np
import pytest

from mixtally.errors import ParameterError, PlanError
from mixtally.lab.data.population import Population
from mixtally.lab.simulation.counts_only import collect_counts, histogram_of
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.run import simulate_release
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.lab.simulation.truth import truth_of
from mixtally.model.guarantee import Guarantee
from mixtally.model.question import Kind, Question, make_attributes_question
from mixtally.planning import PlanRequest, choose
from mixtally.protocol.encode.bits import pack_vectors
from mixtally.protocol.estimate.analysis import Analysis

USERS = 4000
PEOPLE = np.arange(USERS)
SIZES = PEOPLE % 4
LIKES = ((np.arange(12) - PEOPLE[:, None] // 5) % 12 < SIZES[:, None]).astype(np.uint8)
BITS = (PEOPLE[:, None] % np.array([2, 50, 3, 10]) == 0).astype(np.uint8)
TRAITS = np.concatenate(
    [np.eye(3, dtype=np.uint8)[PEOPLE % 3], np.eye(4, dtype=np.uint8)[PEOPLE // 9 % 4]], axis=1
)
CROWDS = {
    "set": (Question(name="q", bins=12, kind=Kind.SET, max_set=3), LIKES),
    "bits": (Question(name="q", bins=4, kind=Kind.BITS), BITS),
    "attributes": (make_attributes_question("q", (3, 4)), TRAITS),
}


def crowd(name):
    asked, bits = CROWDS[name]
    return Population(asked, pack_vectors(bits.tobytes(), bits.shape[1]))


def plan_for(name, slots=1, **more):
    asked = PlanRequest(
        question=CROWDS[name][0],
        guarantee=Guarantee(epsilon=1.0, delta=1e-6),
        users=USERS,
        messages_per_user=4,
        slots=slots,
    )
    return choose(replace(asked, **more)).plan


@pytest.mark.parametrize(
    ("name", "slots", "more"),
    [
        ("set", 1, {}), ("set", 2, {}), ("set", 1, {"hops": 2}),
        ("bits", 1, {}), ("bits", 3, {}), ("bits", 1, {"mix_fakes": True}),
        ("attributes", 1, {}),
    ],
)  # fmt: skip
def test_a_release_has_the_counts(name, slots, more):
    """False alarm: below 10^-7, six standard errors of 12 numbers or fewer."""
    plan, people = plan_for(name, slots, **more), crowd(name)
    given = simulate_release(plan, people, Lab(SeededChance(4)))
    found, truth = given.result, truth_of(people, given.result)
    errors = np.broadcast_to(
        found.estimate.standard_error if found.estimate.errors is None else found.estimate.errors,
        people.truth.shape,
    )
    assert found.estimate.counts.shape == people.truth.shape
    assert (abs(found.estimate.counts - people.truth) < 6 * errors).all()
    held = found.estimate.simultaneous
    assert ((held.lower <= people.truth) & (people.truth <= held.upper)).mean() > 0.7
    assert found.received.parts[0].received == found.messages
    if name == "set":
        (sizes,) = found.figures
        for row, true in zip(sizes.rows, truth.figures["sizes"], strict=True):
            assert abs(row.estimate - true) < 6 * row.standard_error


def test_derived_figures_are_those_of_the_bins():
    people, plan = crowd("bits"), plan_for("bits", 2)
    analysis = Analysis(level=0.95, compared=("0", "2"), totals=(("both", ("0", "3")),))
    found = simulate_release(plan, people, Lab(SeededChance(5)), analysis).result
    (difference, total), held = found.figures, people.truth
    for figures, true in ((difference, held[0] - held[2]), (total, held[0] + held[3])):
        (row,) = figures.rows
        assert abs(row.estimate - true) < 6 * row.standard_error


def test_what_needs_whole_records_is_refused():
    plan, people = plan_for("set"), crowd("set")
    with pytest.raises(ParameterError, match="records of which all bins are sent"):
        collect_counts(plan, histogram_of(people), Lab(SeededChance(1)))
    with pytest.raises(ParameterError, match="records of several bits that are sent whole"):
        simulate_release(plan, people, Lab(SeededChance(1)), Analysis(level=0.95, pairs=True))
    with pytest.raises(PlanError, match="records that travel as one message"):
        plan_for("bits").single_part("ask again")

"""Demo: the destinations of 336,776 real flights, counted privately in two ways."""

from mixtally.lab.data.flights import SOURCE, flights
from mixtally.lab.simulation.central import compare_central_mechanisms
from mixtally.lab.simulation.lab import Lab, Provenance
from mixtally.lab.simulation.run import simulate_release
from mixtally.lab.simulation.study import Study
from mixtally.lab.simulation.truth import Truth
from mixtally.model.guarantee import Guarantee
from mixtally.planning import PlanRequest, choose
from mixtally.planning.reason import describe_choice
from mixtally.protocol.estimate.analysis import COUNTS_ALONE, Analysis


def simulate_demo(
    guarantee: Guarantee,
    lab: Lab,
    analysis: Analysis = COUNTS_ALONE,
    *,
    seed: int | None = None,
) -> Study:
    """Return the study of the demo, which ``mixtally demo`` shows.

    The study compares two plans. One is the planner's choice with at most two messages per user.
    The other uses flip-blank with one fake per user. ``seed`` is the seed with which ``lab`` was
    made, and the study states it; None if the randomness is not reproducible.

    Returns
    -------
    Study
        One release for each plan, with the true counts of the flights.
    """
    population = flights()
    request = PlanRequest(question=population.question, guarantee=guarantee, users=population.users)
    answer = choose(request, lab.planner)
    compared_plans = [
        lab.planner.plan(one) for one in answer.others if one.protocol == "flip-blank"
    ]
    plans = [answer.plan, *(plan for plan in compared_plans if plan is not None)]
    truth, level = population.truth, analysis.level
    peers, errors = compare_central_mechanisms(
        guarantee, truth, level=level, seeded=seed is not None
    )
    return Study(
        provenance=Provenance(
            title="Where flights from New York went, counted privately",
            source=SOURCE,
            # The empty tuple omits advice on options, because the demo has no options.
            reason=describe_choice(request, answer.plan, answer.others, ()),
            seed=seed,
        ),
        releases=tuple(simulate_release(plan, population, lab, analysis) for plan in plans),
        truth=Truth(truth, central=errors),
        central=peers,
    )

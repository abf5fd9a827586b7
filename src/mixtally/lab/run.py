"""From a crowd and its plans to a study: play, tally, estimate."""

from mixtally.errors import PlanError
from mixtally.estimate.debias import check_choices, estimate_counts
from mixtally.ground.chance import Chance
from mixtally.lab.population import Population
from mixtally.lab.simulate import Progress, play
from mixtally.privacy.price import verify
from mixtally.records.plan import Plan
from mixtally.report.study import Release


def release(
    plan: Plan,
    population: Population,
    chance: Chance,
    progress: Progress,
    *,
    level: float = 0.95,
    projection: str | None = None,
) -> Release:
    """The result of collecting ``population`` under ``plan``, its certificate checked first.

    Raises PlanError when the plan is for another question or crowd, or its promise is false.
    """
    check_choices(level, projection)  # before the work, not after it
    users = len(population.codes)
    if plan.question != population.question or plan.users != users:
        raise PlanError(
            "plan",
            wanted=f"a plan for {users:,} users and the {population.question.bins:,} bins of "
            f"{population.question.name!r}",
            got=f"one for {plan.users:,} users and the {plan.question.bins:,} bins of "
            f"{plan.question.name!r}",
            do="plan again for this data",
        )
    protocol = verify(plan)
    tally = play(protocol, population.codes, chance, progress)
    found = estimate_counts(protocol, tally, users, level=level, projection=projection)
    return Release(plan, protocol, tally.messages, found)

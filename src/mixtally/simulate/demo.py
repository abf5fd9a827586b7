"""The demo: where 336,776 real flights went, counted privately in two ways."""

from collections.abc import Callable

from mixtally.data.cells import Progress
from mixtally.data.flights import SOURCE, flights
from mixtally.ground.chance import Chance
from mixtally.planner import PlanRequest, choose
from mixtally.records.guarantee import Guarantee
from mixtally.simulate.central import central
from mixtally.simulate.run import release
from mixtally.simulate.study import Study
from mixtally.simulate.truth import Truth


def demo(
    guarantee: Guarantee,
    chance: Callable[[], Chance],
    progress: Progress,
    *,
    seed: int | None = None,
    level: float = 0.95,
) -> Study:
    """The planner's choice within two messages a user, beside flip-blank at one fake a user."""
    population = flights()
    wish = PlanRequest(
        question=population.question, guarantee=guarantee, users=len(population.codes)
    )
    answer = choose(wish)
    plans = [answer.best.plan]
    plans += [offer.plan for offer in answer.others if offer.plan.mechanism.name == "flip-blank"]
    source = chance()
    return Study(
        title="Where flights from New York went, counted privately",
        source=SOURCE,
        releases=tuple(release(p, population, source, progress, level=level) for p in plans),
        truth=Truth(population.truth),
        reason=answer.reason,
        seed=seed,
        central=central(guarantee, population.truth, level=level, seeded=seed is not None),
    )

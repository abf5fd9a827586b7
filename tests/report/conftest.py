"""Small studies, made by playing small crowds through the lab with seeded randomness."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from mixtally.data.population import Population
from mixtally.planner import PlanRequest, choose
from mixtally.records.guarantee import Guarantee
from mixtally.records.question import Question
from mixtally.report.study import Study
from mixtally.simulate.run import release
from mixtally.simulate.seeded import SeededChance

Make = Callable[..., Study]


def make_study(
    truth: Sequence[int],
    *,
    labels: tuple[str, ...] | None = None,
    protocols: Sequence[str] = ("flip-blank",),
    known: bool = True,
    projection: str | None = None,
    name: str = "color",
    epsilon: float = 1.0,
    level: float = 0.95,
    **named: Any,
) -> Study:
    """A study of a crowd with ``truth[i]`` people in bin i, one release a protocol."""
    codes = np.repeat(np.arange(len(truth)), truth)
    population = Population(Question(name=name, bins=len(truth), labels=labels), codes)
    chance, releases = SeededChance(1), []
    for protocol in protocols:
        wish = PlanRequest(
            question=population.question,
            guarantee=Guarantee(epsilon=epsilon, delta=1e-6),
            users=len(codes),
            mix_fakes=True,
            protocol=protocol,
        )
        plan = choose(wish).best.plan
        played = release(
            plan, population, chance, lambda *_: None, level=level, projection=projection
        )
        releases.append(played)
    texts = {"title": "Colors, counted", "source": "A small crowd.", "reason": "Asked for."}
    return Study(
        releases=tuple(releases), truth=population.truth if known else None, **(texts | named)
    )


@pytest.fixture(scope="session")
def study() -> Make:
    """The maker of studies."""
    return make_study

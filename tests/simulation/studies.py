"""Small studies, made by playing small crowds with seeded randomness, and how they are shown."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mixtally.lab.data.population import Population
from mixtally.lab.simulation.lab import Lab, Provenance
from mixtally.lab.simulation.run import simulate_release
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.lab.simulation.study import Study
from mixtally.lab.simulation.study_document import document
from mixtally.lab.simulation.truth import Truth
from mixtally.model.guarantee import Guarantee
from mixtally.model.question import Question
from mixtally.planning import PlanRequest, choose
from mixtally.protocol.estimate.analysis import Analysis
from mixtally.report import counts, texts
from mixtally.report.page import page as html
from mixtally.report.terminal import render_summary


def make_study(
    truth: Sequence[int],
    *,
    labels: tuple[str, ...] | None = None,
    protocols: Sequence[str] = ("flip-blank",),
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
        plan = choose(wish).plan
        played = simulate_release(
            plan, population, Lab(chance), Analysis(level=level, projection=projection)
        )
        releases.append(played)
    texts_ = {"title": "Colors, counted", "source": "A small crowd.", "reason": "Asked for."}
    more = {"central": named.pop("central")} if "central" in named else {}
    about = Provenance(**(texts_ | named))
    return Study(provenance=about, releases=tuple(releases), truth=Truth(population.truth), **more)


def page(study):
    """Its page."""
    return html(document(study, 20))


def csv_text(study):
    """Its rows as CSV."""
    return texts.files(document(study, 20))["estimates.csv"]


def json_text(study):
    """Its facts as JSON."""
    return texts.files(document(study, 20))["result.json"]


def facts(study):
    """All that is said of it."""
    return document(study, 20).facts()


def rows(study, result):
    """The rows of one of its results."""
    return counts.count_rows(result, {"truth": study.truth.counts.tolist()})


def summary(study, top):
    """What a terminal shows."""
    return render_summary(document(study, top))


def with_estimate(study, **fields):
    """The study with these fields of its one estimate replaced."""
    (first,) = study.releases
    result = replace(first.result, estimate=replace(first.result.estimate, **fields))
    return replace(study, releases=(replace(first, conclusion=result),))


__all__ = ["csv_text", "facts", "json_text", "make_study", "page", "rows", "summary"]

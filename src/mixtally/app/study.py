"""Outcome of a study: its document, its publishable document, and its plans as files.

A study is a simulated or counted round with its comparisons; ``count`` and ``conclude`` make one.
"""

from mixtally.app.outcome import Outcome, outcome_of
from mixtally.lab.simulation.study import Study
from mixtally.lab.simulation.study_document import document
from mixtally.model.contract import write_plan


def outcome(study: Study, top: int, from_data: tuple[str, ...] | None) -> Outcome:
    """Return the outcome of a study; a terminal shows the ``top`` largest bins."""
    plans = {} if study.provenance.signed else plans_of(study)  # a contract contains its plan
    return outcome_of(study, lambda shown: document(shown, top), from_data, plans)


def plans_of(study: Study) -> dict[str, bytes]:
    """Return the files of the plans, named plan.json for the first release."""
    files: dict[str, bytes] = {}
    for place, release in enumerate(study.releases):
        plan = release.result.plan
        files[f"plan-{plan.protocol}.json" if place else "plan.json"] = write_plan(plan)
    return files

"""What comes of a study: its document, what of it may be published, its plans as files."""

from mixtally.app.outcome import Outcome, outcome_of
from mixtally.lab.simulation.study import Study
from mixtally.lab.simulation.study_document import document
from mixtally.model.contract import write_plan


def outcome(study: Study, top: int, from_data: tuple[str, ...] | None) -> Outcome:
    """Return the study as documents; a terminal shows the ``top`` largest bins."""
    plans = {} if study.about.signed else plans_of(study)  # a contract has its plan
    return outcome_of(study, lambda shown: document(shown, top), from_data, plans)


def plans_of(study: Study) -> dict[str, bytes]:
    """plan.json of the first release, of others with the protocol in the name."""
    files: dict[str, bytes] = {}
    for place, release in enumerate(study.releases):
        plan = release.result.plan
        files[f"plan-{plan.protocol}.json" if place else "plan.json"] = write_plan(plan)
    return files

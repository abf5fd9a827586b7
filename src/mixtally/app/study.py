"""What comes of a study: its document, what of it may be published, its plans as files."""

from collections.abc import Mapping

from mixtally.app.outcome import Outcome
from mixtally.ground.codec import canonical
from mixtally.simulation.study import Study
from mixtally.simulation.study_document import document


def outcome(
    study: Study,
    top: int,
    from_data: tuple[str, ...] | None,
    more: Mapping[str, bytes] | None = None,
) -> Outcome:
    """The study; a terminal shows the ``top`` largest bins, ``more`` are further files."""
    return Outcome(
        document=document(study, top),
        from_data=from_data,
        plain=document(study.published(), top),
        seeded=study.about.seed is not None,
        more={**plan_files(study), **(more or {})},
    )


def plan_files(study: Study) -> dict[str, bytes]:
    """plan.json of the first release, of others with the protocol in the name.

    Those of a split record are numbered.
    """
    files = {}
    for place, release in enumerate(study.releases):
        plans = release.result.plans
        stem = f"plan-{plans[0].protocol}" if place else "plan"
        for number, plan in enumerate(plans, 1):
            files[f"{stem}-{number}.json" if plans[1:] else f"{stem}.json"] = canonical(plan)
    return files

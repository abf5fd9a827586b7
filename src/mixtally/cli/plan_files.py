"""Plans as files: read, and written where one was played, to be attacked or played again."""

from pathlib import Path
from typing import TYPE_CHECKING

from mixtally.errors import ParameterError
from mixtally.ground.codec import canonical
from mixtally.records.plan import Plan
from mixtally.records.plan import read_plan as parse
from mixtally.store.files import read_bytes

if TYPE_CHECKING:  # who reads a plan to charge it needs no reports
    from mixtally.simulation.study import Study


def plan_files(study: "Study") -> dict[str, bytes]:
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


def read_plan(path: Path) -> Plan:
    """The plan in a file; raises PlanError when it is truncated, foreign or altered."""
    return parse(read_bytes(path, "a plan file"), str(path))


def refuse_beside(flags: list[str]) -> None:
    """Raises ParameterError when options stand beside --plan that the plan itself holds."""
    if flags:
        raise ParameterError(
            "--plan",
            wanted="a plan, or options to make one",
            got="both: " + ", ".join(flags),
            do="leave these out: the plan holds them",
        )

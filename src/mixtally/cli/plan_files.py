"""Plans as files that a command is given."""

from pathlib import Path

from mixtally.errors import ParameterError
from mixtally.records.plan import Plan
from mixtally.records.plan import read_plan as parse
from mixtally.store.files import read_bytes


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

"""Plans as files that a command is given."""

from collections.abc import Iterable
from pathlib import Path

from mixtally.errors import ParameterError
from mixtally.privacy.accountant import Accountant
from mixtally.privacy.certify import verify
from mixtally.records.mechanism import Shuffled
from mixtally.records.plan import Plan
from mixtally.records.plan import read_plan as parse
from mixtally.store.files import read_bytes


def read_plan(path: Path) -> Plan:
    """The plan in a file; raises PlanError when it is truncated, foreign or altered."""
    return parse(read_bytes(path, "a plan file"), str(path))


def read_verified(path: Path) -> tuple[Plan, Shuffled]:
    """The plan in a file and its mechanism, once its certificate was proved again."""
    plan = read_plan(path)
    return plan, verify(plan, Accountant())


def given_reason(paths: Iterable[Path]) -> str:
    """Why a plan that was given is what it is."""
    return f"The plan was given: {', '.join(map(str, paths))}."


def refuse_beside(flags: list[str], what: str = "plan") -> None:
    """Raises ParameterError for options beside a plan, or a contract, that it holds itself."""
    if flags:
        made = "one" if what == "plan" else "a plan"
        raise ParameterError(
            f"--{what}",
            wanted=f"a {what}, or options to make {made}",
            got="both: " + ", ".join(flags),
            do=f"leave these out: the {what} holds them",
        )

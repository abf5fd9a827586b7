"""Plans as files, and what one promises beside what is expected of it."""

from collections.abc import Sequence

from mixtally.ground.codec import canonical
from mixtally.planner import Forecast, PlanOption
from mixtally.records.plan import Plan
from mixtally.report.document import Promise
from mixtally.report.promise import of_plan


def plan_files(
    plans: Sequence[Plan], stem: str = "plan", suffix: str = ".json"
) -> dict[str, bytes]:
    """Plans by the names of their files: those of a record's messages are numbered."""
    several = len(plans) > 1
    return {
        f"{stem}-{place}{suffix}" if several else f"{stem}{suffix}": canonical(plan)
        for place, plan in enumerate(plans, 1)
    }


def promise_lines(option: PlanOption, expected: Forecast) -> Promise:
    """What the plan hides from whom, what that rests on, and the error to expect."""
    error, level, half = expected.standard_error, expected.level, expected.half_width
    shown, local = option.certificate, option.local_epsilon
    return of_plan(shown, option.collections, local, error, level, half)

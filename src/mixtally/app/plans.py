"""A plan as a file, and what one promises beside what is expected of it."""

from mixtally.planner import Forecast
from mixtally.records.contract import Plan
from mixtally.report.document import Promise
from mixtally.report.promise import of_plan


def promise_lines(plan: Plan, expected: Forecast) -> Promise:
    """What the plan hides from whom, what that rests on, and the error to expect."""
    return of_plan(plan, expected.level, expected.half_width)

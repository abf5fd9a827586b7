"""A plan is made without the slow imports."""

import subprocess
import sys

import pytest

from helpers.sampled import rows

PROGRAM = """
import sys
from mixtally.planning import PlanRequest, choose, pareto_front
from mixtally.model.guarantee import Guarantee
from mixtally.model.question import Kind, Question

promised = Guarantee(epsilon={epsilon}, delta=1e-6)
request = PlanRequest(question=Question(name="q", {options}), guarantee=promised, users=10**6)
choose(request), pareto_front(request)
print("scipy" in sys.modules)
"""


@pytest.mark.parametrize(
    ("epsilon", "options"),
    rows(
        [
            (0.3, "bins=1000"),
            (1.0, "bins=1000"),
            (10.0, "bins=1000"),
            (1.0, "bins=31, kind=Kind.SET, max_set=2, attributes=(7, 24)"),
        ],
        3,
    ),
)
def test_a_plan_needs_no_scipy(epsilon, options):
    program = PROGRAM.format(epsilon=epsilon, options=options)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "False"

"""A usual plan is made without the slow imports."""

import subprocess
import sys

PROGRAM = """
import sys
from mixtally.planner import PlanRequest, choose, pareto_front
from mixtally.records.guarantee import Guarantee
from mixtally.records.question import Question

promised = Guarantee(epsilon={epsilon}, delta=1e-6)
request = PlanRequest(question=Question(name="q", bins=1000), guarantee=promised, users=10**6)
choose(request), pareto_front(request)
print("scipy" in sys.modules)
"""


def imports_scipy(epsilon):
    program = PROGRAM.format(epsilon=epsilon)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip() == "True"


def test_a_usual_plan_needs_no_scipy():
    assert not imports_scipy(1.0)
    assert not imports_scipy(0.3)


def test_a_plan_at_a_large_epsilon_does():
    """Where totals are few their tails come from the incomplete beta function."""
    assert imports_scipy(10.0)

"""A budget is spent once, by however many threads, processes and copies."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from helpers.small_plan import by_mixes, fruit_plan, other_plan
from mixtally.api import Budget, Device, simulate
from mixtally.errors import InfeasibleError, InputError, PlanError

ROOM = {"epsilon": 2, "delta": 1e-5}
"""Two collections of the plan fit, three do not."""


def charged(budget):
    """Whether one more collection was taken."""
    try:
        budget.charge(fruit_plan())
    except InfeasibleError:
        return False
    return True


SPENDER = """
import sys
from mixtally.api import Budget, Plan
from mixtally.errors import InfeasibleError
budget, plan = Budget(sys.argv[1]), Plan.load(sys.argv[2])
for turn in range(int(sys.argv[3])):
    try:
        budget.charge(plan)
    except InfeasibleError:
        continue
    print("taken")
"""


def fits(budget):
    return budget.times_left(fruit_plan())


def test_charges_add_up_and_what_would_pass_is_refused(tmp_path):
    for budget in (Budget(**ROOM), Budget(tmp_path / "b.json", **ROOM)):
        room = fits(budget)
        assert 1 <= room <= 5
        assert budget.spent is None
        budget.charge(fruit_plan(), room, note="weekly")
        assert fits(budget) == 0
        before = budget.seal
        with pytest.raises(InfeasibleError, match="Nothing was charged"):
            budget.charge(fruit_plan())
        assert budget.seal == before
        assert 0 < budget.spent.upper <= ROOM["delta"]
        assert budget.spent.epsilon == ROOM["epsilon"]
        (charge,) = budget.charges
        assert (charge.times, charge.note) == (room, "weekly")
        assert "epsilon = 2" in repr(budget)


def test_a_file_is_opened_again_with_its_charges(tmp_path):
    path = tmp_path / "b.json"
    Budget(path, **ROOM).charge(other_plan())
    again = Budget(path)
    assert (again.epsilon, again.delta) == (2, 1e-5)
    assert len(again.charges) == len(Budget(path, **ROOM).charges) == 1


def test_threads_together_take_what_fits_and_no_more():
    budget = Budget(**ROOM)
    room = fits(budget)
    with ThreadPoolExecutor(8) as pool:
        taken = sum(pool.map(lambda _: charged(budget), range(16)))
    assert taken == room == len(budget.charges)


@pytest.mark.seconds
def test_processes_together_take_what_fits_and_no_more(tmp_path):
    path = tmp_path / "b.json"
    room = fits(Budget(path, **ROOM))
    (plan,) = fruit_plan().save(tmp_path / "plan.json")
    call = [sys.executable, "-c", SPENDER, str(path), str(plan), str(room)]
    several = [subprocess.Popen(call, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    told = [one.communicate(timeout=300)[0] for one in several]
    assert [one.returncode for one in several] == [0, 0, 0]
    assert "".join(told).count("taken") == room == len(Budget(path).charges)


def in_a_fork(work):
    """What ``work`` raises in a forked child, by its name."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            work()
            os.write(writing, b"nothing")
        except BaseException as error:
            os.write(writing, type(error).__name__.encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading, "rb") as told:
        return told.read().decode()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_cannot_spend_a_budget_in_memory_again():
    budget = Budget(**ROOM)
    budget.charge(other_plan())
    assert in_a_fork(lambda: budget.charge(other_plan())) == "ParameterError"
    assert len(budget.charges) == 1


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_cannot_answer_again():
    device = Device(by_mixes(), epsilon=3, delta=0.1)
    assert in_a_fork(lambda: device.messages("pear")) == "ParameterError"
    assert device.messages("pear").parts


def test_a_play_is_charged_before_it_and_not_when_it_cannot_be():
    budget = Budget(**ROOM)
    with pytest.raises(PlanError):
        simulate(["apple", "pear"] * 100, plan=fruit_plan(), budget=budget)
    with pytest.raises(InputError):
        simulate([None, "pear"] * 200, plan=fruit_plan(), budget=budget)
    assert budget.charges == ()
    simulate(["apple", "pear"] * 200, plan=fruit_plan(), budget=budget)
    assert len(budget.charges) == 1

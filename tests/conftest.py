"""Properties are tried on the same examples every time, so that a green run stays green.

Where commands and plans are asked for again and again all accountants of a process share one
memory: what they prove follows from their questions alone, which ``tests/accounting`` tries.
"""

import math
import os
import subprocess

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command line has it, before NumPy
from mixtally.model import mechanism

# How long examples take to draw says how busy the machine is, nothing about the code.
settings.register_profile(
    "repeatable", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("repeatable")
# Otherwise the examples contain constants of all modules that earlier tests have imported.
providers._get_local_constants = lambda: providers._local_constants

ROOMS = {"cli", "docs", "api", "examples", "planning", "simulation"}
COUNTED_OR_PLANTED = {
    "test_gains.py",
    "test_least_noise.py",
    "test_quick_refusals.py",
    "test_streams.py",
    "test_two_bins.py",
    "test_two_outputs.py",
    "test_uniform_flips.py",
    "test_work.py",
}
"""They count or time what is computed, or break it: every accountant begins with nothing."""
KEPT = []
WAITING = {"network", "survive", "web", "test_network_page"}
"""The folders and files of tests that mostly wait for processes."""


def pytest_collection_modifyitems(items):
    """Begin with the tests that wait: at the end the processors would wait for them."""
    items.sort(key=lambda item: not WAITING & {item.path.parent.name, item.path.stem})


@pytest.fixture(scope="module", autouse=True)
def one_memory(request):
    """Lets all accountants of a module remember what those of others did before."""
    if request.path.parent.name not in ROOMS or request.path.name in COUNTED_OR_PLANTED:
        yield
        return
    from mixtally.accounting.accountant import Accountant

    if not KEPT:
        KEPT.append(Accountant())

    def remembering(self):
        vars(self).update(vars(KEPT[0]))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Accountant, "__init__", remembering)
        yield


@pytest.fixture(params=mechanism.protocols())
def protocol(request):
    """The name of every protocol that is registered, one after the other."""
    return request.param


@pytest.fixture(scope="session")
def protocols():
    """The names of all protocols that are registered."""
    return {*mechanism.protocols()}


@pytest.fixture
def plant(monkeypatch):
    """Replaces what ``home`` calls ``name`` by a change of it, which is given the honest one."""

    def replace(home, name, change):
        honest = getattr(home, name)
        monkeypatch.setattr(home, name, lambda *given, **named: change(honest, *given, **named))

    return replace


@pytest.fixture
def watch(plant):
    """The arguments of every call of what ``home`` calls ``name``: so many at most, if any."""

    def calls(home, name, most=math.inf):
        seen = []

        def noted(honest, *given, **named):
            seen.append(given)
            assert len(seen) <= most, f"more than {most} calls of {name}"
            return honest(*given, **named)

        plant(home, name, noted)
        return seen

    return calls


@pytest.fixture
def piped(tmp_path):
    """Makes what a program prints, or some bytes, the standard input, out of a pipe."""
    before, started = os.dup(0), []

    def call(source: bytes | list[str]) -> None:
        if isinstance(source, bytes):
            path = tmp_path / "piped"
            path.write_bytes(source)
            source = ["cat", str(path)]
        one = subprocess.Popen(source, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        started.append(one)
        os.dup2(one.stdout.fileno(), 0)

    yield call
    os.dup2(before, 0)
    os.close(before)
    for one in started:
        one.stdout.close()
        one.kill()
        one.wait()

"""The root loads nothing before it is used, and has the names that the door has."""

import subprocess
import sys

import pytest

import mixtally
from mixtally import api as door
from mixtally.version import VERSION


def modules_after(line):
    """What is loaded after one line in a new Python."""
    program = f"import sys; before = set(sys.modules); {line}; print(*set(sys.modules) - before)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_importing_the_root_loads_nothing_else():
    known = modules_after("import importlib, typing")
    assert modules_after("import mixtally") - known == {"mixtally"}


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("line", "never"),
    [
        (
            "from mixtally.api import delta",
            {"narwhals", "mixtally.lab.simulation", "rich", "typer"},
        ),
        ("from mixtally.api import plan", {"narwhals", "mixtally.lab.simulation", "rich", "typer"}),
        ("from mixtally.api import Device", {"scipy", "narwhals", "msgspec"}),
        ("from mixtally.api import simulate", {"pandas", "polars", "pyarrow", "altair", "typer"}),
    ],
)
def test_a_name_loads_its_own_room_alone(line, never):
    assert not modules_after(line) & never


def test_without_a_reader_values_say_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(door.MixtallyError, match=r"values: .* pip install 'mixtally\[data\]'"):
        mixtally.simulate(["a", "b"] * 9, epsilon=1, delta=1e-6)


def test_the_root_has_the_version_of_the_package():
    assert mixtally.__version__ == VERSION
    assert "mixtally.version" not in modules_after("import mixtally")


def test_the_root_and_the_door_have_the_same_names():
    assert dir(mixtally) == dir(door) == sorted(door._PLACES)
    for name in door.__all__:
        one = getattr(door, name)
        assert one.__doc__, name
        if one.__module__.startswith("mixtally.api."):
            assert ">>> " in one.__doc__ or isinstance(one, type), name


@pytest.mark.parametrize("module", [mixtally, door])
def test_other_names_are_refused(module):
    with pytest.raises(AttributeError, match="'shuffle_all'"):
        module.shuffle_all  # noqa: B018

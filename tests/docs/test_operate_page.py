"""The page of operators has every limit that they meet, with today's value, and ten accidents."""

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import mixtally.server

PAGE = (Path(__file__).parents[2] / "docs/how-to/operate.md").read_text()
ROWS = {
    name: value
    for value, name in re.findall(r"^\| [^|]+ \| ([^|]+) \| `([a-z_.]+\.[A-Z_]+)` \|$", PAGE, re.M)
}
"""Stated values by the names of their constants."""
UNITS = {"": 1, "s": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
LIMIT = re.compile(r"(?:MOST|MAX|LEAST|LOW)_[A-Z_]+|(?:[A-Z]+_)?SECONDS")
"""How a public constant is called that limits something."""


def limits(package):
    """The limits in the modules of a package of servers."""
    found = importlib.import_module(f"mixtally.server.{package}")
    for one in pkgutil.walk_packages(found.__path__, f"mixtally.server.{package}."):
        module = importlib.import_module(one.name)
        source = Path(module.__file__).read_text()
        for name in re.findall(r"^([A-Z][A-Z_]*)\b.* = ", source, re.M):
            if LIMIT.fullmatch(name) and isinstance(getattr(module, name), (int, float)):
                yield f"{one.name.removeprefix('mixtally.server.')}.{name}"


def value_of(text):
    number, unit = re.fullmatch(r"([\d,.]+) ?(\w*)", text).groups()
    return float(number.replace(",", "")) * UNITS[unit]


@pytest.mark.parametrize("name", ROWS)
def test_the_value_is_that_of_the_code(name):
    module, _, constant = name.rpartition(".")
    held = getattr(importlib.import_module(f"mixtally.server.{module}"), constant)
    assert value_of(ROWS[name]) == held


@pytest.mark.parametrize("package", ["node", "mix", "collector"])
def test_every_limit_has_a_row(package):
    found = set(limits(package))
    assert found
    assert found <= set(ROWS)


def test_a_limit_that_is_off_or_missing_is_noticed():
    assert value_of("16 MiB") != 1 << 25
    assert "mix.web.MOST_BODY_BYTES" in set(limits("mix"))
    assert len(ROWS) >= 20


def test_there_are_ten_accidents_each_with_what_is_seen_and_done():
    _, _, rest = PAGE.partition("## Ten accidents\n")
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", rest.partition("\n## ")[0], re.M)
    assert len(rows) == 11  # and their heads


def test_events_that_are_named_are_logged():
    """Every event in the table of events and accidents stands in the code that logs it."""
    sources = " ".join(path.read_text() for path in Path(mixtally.server.__path__[0]).rglob("*.py"))
    for name in ("peer unreachable", "disk low", "clock jumped", "machine restarted", "failed"):
        assert f"`{name}" in PAGE
        assert f'"{name}"' in sources

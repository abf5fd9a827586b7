"""The files that ARCHITECTURE.md names are there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src/mixtally"
NAMED = re.compile(r"`([a-z_]+(?:/[a-z_{}]+)*\.py|[a-z_]+/[a-z_/]+)`")


def missing(text):
    """Named files and folders that are in no place of the house."""
    trees = ("src", "literature", "scripts", "tests", "bench")
    every = {path.relative_to(ROOT).as_posix() for t in trees for path in (ROOT / t).rglob("*.py")}
    every |= {path.relative_to(ROOT).as_posix() for path in PACKAGE.rglob("*") if path.is_dir()}
    found = NAMED.findall(text)
    assert len(found) > 40
    ends = [name.rstrip("/") for name in found]
    return [
        name
        for name in ends
        if not any(f"/{path}".removesuffix(".py").endswith("/" + name.removesuffix(".py"))
                   for path in every)
        and not (ROOT / name).exists()
    ]  # fmt: skip


def test_every_named_file_is_there():
    assert missing((ROOT / "ARCHITECTURE.md").read_text()) == []


def test_the_twin_with_a_file_that_is_gone_is_found():
    text = (ROOT / "ARCHITECTURE.md").read_text()
    assert missing(text + "\n`planner/oracle.py`") == ["planner/oracle.py"]

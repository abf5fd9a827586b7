"""The documentation site builds without a warning and a network, and every page can be reached."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mixtally
from mixtally.cli.app import COMMANDS

ROOT = Path(__file__).parents[2]
MENU = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
NAMED = re.findall(r"- ([\w/.-]+\.md)$", MENU, flags=re.MULTILINE)
SOURCES = ("docs", "scripts", "src", "mkdocs.yml")
NOWHERE = "http://127.0.0.1:9"
"""A proxy that is not there: what would fetch anything fails."""


def build(root):
    """What building the site of the tree under ``root`` says; strict, so warnings are errors."""
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict"],
        cwd=root,
        env={**os.environ, "https_proxy": NOWHERE, "http_proxy": NOWHERE,
             "NO_MKDOCS_2_WARNING": "true"},
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip


@pytest.fixture
def copy(tmp_path):
    for name in SOURCES:
        place = ROOT / name
        if place.is_dir():
            skipped = shutil.ignore_patterns("__pycache__", "files")
            shutil.copytree(place, tmp_path / name, ignore=skipped)
        else:
            shutil.copy(place, tmp_path)
    for place in ROOT.glob("*.md"):
        shutil.copy(place, tmp_path)
    return tmp_path


@pytest.mark.slow
def test_the_site_builds_and_shows_the_public_names(copy):
    done = build(copy)
    assert done.returncode == 0, done.stderr
    site = copy / "out" / "site"
    reference = (site / "reference/python.html").read_text()
    for name in mixtally.__all__:
        assert f'id="mixtally.{name}"' in reference, name
    commands = (site / "reference/commands.html").read_text()
    for name in COMMANDS:
        assert f'id="mixtally-{name.replace(" ", "-")}"' in commands, name
    assert "--honest-share" in commands
    for page in NAMED:
        assert (site / page).with_suffix(".html").is_file(), page
    for page in site.rglob("*.html"):
        loaded = re.findall(
            r'<(?:script|img|link rel="stylesheet")[^>]*(?:src|href)="([^"]+)"', page.read_text()
        )
        assert not [place for place in loaded if place.startswith(("http", "//"))], page


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "text"),
    [("docs/explanation/promise.md", "\n[x](planing.md)\n"),
     ("docs/explanation/promise.md", "\n[x](trust.md#nowhere)\n"),
     ("docs/how-to/lost.md", "# Lost\n")],
)  # fmt: skip
def test_a_planted_fault_stops_the_build(copy, place, text):
    """Twin: an anchor that is not there, a page outside the menu. A page that is not there keeps
    its words alone, and is found by ``test_every_page``."""
    with (copy / place).open("a") as file:
        file.write(text)
    done = build(copy)
    assert (done.returncode == 0) == ("planing" in text), done.stderr


def test_every_page_is_in_the_menu_once():
    docs = ROOT / "docs"
    pages = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    notebooks = {f"tutorials/{path.stem}.md" for path in (docs / "tutorials").glob("*.ipynb")}
    top = {path.name for path in ROOT.glob("*.md")} - {"README.md"} | {"index.md"}
    assert sorted(NAMED) == sorted(pages | notebooks | top)

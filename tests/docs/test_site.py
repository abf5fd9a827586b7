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
from pages.browser import MOST_MILLISECONDS, browser
from scripts import site_pages

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("docs/**/*.md"), *ROOT.glob("*.md")]
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
    with (copy / "docs/explanation/promise.md").open("a") as file:
        file.write("\n[x](planing.md)\n")  # no page: it keeps its words, `test_every_page` finds it
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
    drawn = 0
    for page in site.rglob("*.html"):
        text = page.read_text()
        loaded = re.findall(
            r'<(?:script|img|link rel="stylesheet")[^>]*(?:src|href)="([^"]+)"', text
        )
        assert not [place for place in loaded if place.startswith(("http", "//"))], page
        assert "$$\n" not in text, page
        drawn += text.count('<div class="formula"')
    assert drawn == sum(len(formulas(page)) for page in PAGES) >= 15
    with browser() as shown:
        assert finds_from_file(shown, site, "planes", 120)
        (site / "assets" / "iframe-worker.js").write_text("")  # twin: browsers start no worker
        assert not finds_from_file(shown, site, "planes", 5)


def finds_from_file(shown, site, word, seconds):
    """Return whether a search in a site opened as a file finds six pages in these seconds."""
    page = shown.new_context(offline=True).new_page()
    page.goto(f"{(site / 'index.html').as_uri()}?q={word}", timeout=MOST_MILLISECONDS)
    sixth = page.locator(".md-search-result__item").nth(5)
    try:
        sixth.wait_for(state="attached", timeout=1000 * seconds)
    except Exception:
        return False
    return True


def formulas(page):
    """Return the formulas between lines of two dollars."""
    return list(site_pages.FORMULA.finditer(page.read_text()))


@pytest.mark.seconds
def test_every_formula_of_the_pages_is_drawn():
    every = [one for page in PAGES for one in formulas(page)]
    assert len(every) >= 15
    for one in every:
        picture = site_pages.draw_formula(one)
        assert "<path" in picture
        assert 'role="img"' in picture
    assert sum(page.read_text().count("$$\n") for page in PAGES) == 2 * len(every)


def test_a_formula_that_is_none_stops_the_build():
    """Twin: a brace that is never closed."""
    with pytest.raises(ValueError, match="closed braces"):
        site_pages.draw_formula(site_pages.FORMULA.match("$$\n\\frac{1}{2\n$$"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "text"),
    [("docs/explanation/promise.md", "\n[x](trust.md#nowhere)\n"),
     ("docs/how-to/lost.md", "# Lost\n")],
)  # fmt: skip
def test_a_planted_fault_stops_the_build(copy, place, text):
    """Twin: an anchor that is not there, a page outside the menu."""
    with (copy / place).open("a") as file:
        file.write(text)
    done = build(copy)
    assert done.returncode != 0, done.stderr


def test_every_page_is_in_the_menu_once():
    docs = ROOT / "docs"
    pages = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    notebooks = {f"tutorials/{path.stem}.md" for path in (docs / "tutorials").glob("*.ipynb")}
    top = {path.name for path in ROOT.glob("*.md")} - {"README.md"} | {"index.md"}
    assert sorted(NAMED) == sorted(pages | notebooks | top)

"""From the README's map everything there is can be reached within two clicks."""

import re
from pathlib import Path

import pytest

from mixtally.cli.app import COMMANDS
from mixtally.lab.attacks import MEMOIZED_ATTACKS, PLAN_ATTACKS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
DOCS = ROOT / "docs"
PAGES = {path.relative_to(DOCS).as_posix(): path.read_text() for path in sorted(DOCS.rglob("*.md"))}
ALL = README + "".join(PAGES.values())
ROOMS = "|".join(path.name for path in (ROOT / "src/mixtally").iterdir() if path.is_dir())
EXAMPLES = sorted(
    path.name for path in (ROOT / "examples").glob("*.py") if "__main__" in path.read_text()
)


@pytest.mark.parametrize("name", PAGES)
def test_the_map_has_the_page(name):
    assert f"](docs/{name})" in README


@pytest.mark.parametrize("name", COMMANDS)
def test_a_page_has_the_command(name):
    assert f"mixtally {name}" in ALL


def test_the_protocol_has_a_row_and_its_divergence_is_derived(protocols):
    for name in (*protocols, "memory"):
        assert f"`{name}`" in PAGES["reference/protocols.md"], name
        assert name in PAGES["explanation/accounting.md"], name


@pytest.mark.parametrize("name", sorted({*PLAN_ATTACKS, *MEMOIZED_ATTACKS}))
def test_the_attack_has_a_row(name):
    assert f"| `{name}` |" in PAGES["explanation/attacks.md"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_page_names_the_example(name):
    assert any(f"examples/{name}" in text for text in PAGES.values())


def anchors(text):
    """The places of a page as its headings name them."""
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
        for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    }


@pytest.mark.parametrize("name", PAGES)
def test_links_into_pages_lead_to_a_heading(name):
    for page, place in re.findall(r"\]\(([\w./-]*)#([^)]+)\)", PAGES[name]):
        text = ((DOCS / name).parent / page).read_text() if page else PAGES[name]
        assert place in anchors(text), (page, place)


def test_what_is_named_is_there():
    """The other way: nothing that went away is still spoken of."""
    named = set(re.findall(r"examples/(\w+\.py)", ALL))
    assert named <= set(EXAMPLES)
    assert {"plan", "budget", "demo"} <= set(COMMANDS)
    assert len(COMMANDS) == 25
    for path in re.findall(rf"`((?:{ROOMS})/[\w/]+\.py)`", ALL):
        assert (ROOT / "src/mixtally" / path).is_file(), path

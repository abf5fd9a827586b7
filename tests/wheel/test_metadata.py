"""What an index shows of the package: all that is known, and a readme that stands alone."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from readme_renderer import markdown

from mixtally.cli.main import LAB
from mixtally.version import VERSION

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
README = (ROOT / "README.md").read_text()


def leads_nowhere(text):
    """Pictures and links of rendered Markdown that only stand in the repository."""
    html = markdown.render(text)
    assert html is not None
    found = re.findall(r'(?:href|src)="([^"]*)"', html) + re.findall(r"<img[^>]*>", html)
    return [place for place in found if not place.startswith(("https://", "#"))]


@pytest.mark.seconds
def test_the_readme_of_the_wheel_renders_and_leads_nowhere_wrong(metadata):
    text = metadata.get_payload()
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert leads_nowhere(text) == []
    assert "![" not in text
    assert "(guide, mathematics)" in text
    for heading in re.findall(r"^## .*$", README, flags=re.MULTILINE):
        assert heading in text


def test_the_readme_of_the_repository_would_not():
    """Twin: what the test above looks for is there before it is taken out."""
    assert "docs/how-to/plan.md" in leads_nowhere(README)


@pytest.mark.seconds
def test_the_metadata_is_complete(metadata):
    assert (metadata["Name"], metadata["Version"]) == ("mixtally", VERSION)
    assert metadata["Author"] == "mixtally developers"
    assert metadata["License-Expression"] == "MIT"
    assert metadata["License-File"] == "LICENSE"
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["Summary"]
    assert metadata["Keywords"].count(",") >= 5
    assert not any("License ::" in line for line in metadata.get_all("Classifier"))


@pytest.mark.seconds
def test_every_classifier_of_a_version_is_one_that_is_taken(metadata):
    minors = re.findall(r"Python :: 3\.(\d+)", " ".join(metadata.get_all("Classifier")))
    assert minors[0] == metadata["Requires-Python"].removeprefix(">=3.")


def test_the_base_is_cryptography_and_the_lab_what_the_command_line_names():
    assert [Requirement(line).name for line in PROJECT["dependencies"]] == ["cryptography"]
    lab = PROJECT["optional-dependencies"]["lab"]
    assert {Requirement(line).name for line in lab} == LAB


def test_the_readme_installs_this_version_and_extras_that_exist():
    assert f"dist/mixtally-{VERSION}-py3-none-any.whl[lab,data]" in README
    told = README[README.index("`mixtally` without") : README.index("## Three ways")]
    named = set(re.findall(r"`(\w+)` ", told)) - {"mixtally", "cryptography"}
    assert {"lab", "data", "serve"} <= named <= set(PROJECT["optional-dependencies"])

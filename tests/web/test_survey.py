"""`make survey` with few people: the page, Node, real roles, and a check of the round."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from web.page_scene import needs_node

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.slow, needs_node]


def test_a_survey_is_counted_and_checked(tmp_path):
    few = "2" if shutil.which("chromium") else "0"
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "survey.py", "--out", tmp_path / "out",
         "--chromium", few, "--node", "20", "--window", "3000", "--hurry", "--seed", "1"],
        capture_output=True, text=True, timeout=1800,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{{'taken': {20 + int(few)}}}" in done.stdout
    assert "the tally counts the opened messages" in done.stdout
    assert "Everything that was looked at fits." in done.stdout

"""The example over time runs as its first lines say, without a warning."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def example(*arguments):
    return subprocess.run(
        [sys.executable, "-W", "error", "examples/epochs.py", *map(str, arguments)],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


@pytest.mark.seconds
def test_it_counts_the_quarters_compares_and_writes_a_page(tmp_path):
    done = example("--seed", 2, "--by", "quarter", "--out", tmp_path / "pages")
    assert (done.returncode, done.stderr) == (0, "")
    for text in ("2013 Q4", "first-last", "fresh, shared", "once, reused"):
        assert text in done.stdout
    (path,) = (tmp_path / "pages").iterdir()
    assert path.name == "epochs.html"
    assert path.read_text().startswith("<!-- rehearsal: holds raw counts -->\n<!doctype")


def test_a_promise_out_of_range_is_refused_in_one_line():
    done = example("--epsilon", 0)
    assert done.returncode != 0
    assert done.stdout == ""
    assert done.stderr.startswith("epochs.py: ")
    assert done.stderr.count("\n") == 1

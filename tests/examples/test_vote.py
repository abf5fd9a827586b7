"""The example on real ballots runs as its first lines say, without a warning."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def example(*arguments):
    return subprocess.run(
        [sys.executable, "-W", "error", "examples/vote.py", *map(str, arguments)],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


@pytest.mark.seconds
def test_it_counts_both_columns_and_writes_their_pages(tmp_path):
    """False alarm below 10^-20: 551 and 393 votes lie 17 standard errors apart; fixed seed."""
    done = example("--seed", 2, "--out", tmp_path / "pages")
    assert (done.returncode, done.stderr) == (0, "")
    for text in ("expected vote, 1996: local version", "party, 1996: shuffle version", "58.37 %"):
        assert text in done.stdout
    shuffle = done.stdout.split("expected vote, 1996: shuffle version")[1]
    assert shuffle.split("leads")[0].rstrip().endswith("'Clinton'")
    assert sorted(p.name for p in (tmp_path / "pages").iterdir()) == ["pid.html", "vote.html"]
    for page in (tmp_path / "pages").iterdir():
        assert page.read_text().startswith("<!-- rehearsal: holds raw counts -->\n<!doctype")


@pytest.mark.seconds
def test_a_promise_out_of_range_is_refused_in_one_line():
    done = example("--epsilon", 0)
    assert done.returncode != 0
    assert done.stdout == ""
    assert done.stderr.startswith("vote.py: ")
    assert done.stderr.count("\n") == 1

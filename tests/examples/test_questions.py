"""The examples of every kind of question run as they are, and print what they promise."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
TOLD = {
    "single_bit.py": "single-bit",
    "survey_bits.py": "votes Dole & college degree",
    "sets.py": "ORD",
    "attributes.py": "delta of the whole record",
    "ages.py": "50 % quantile",
    "open_words.py": "all lines at once: 1",
}


@pytest.mark.seconds
@pytest.mark.parametrize("name", TOLD)
def test_the_example_runs(name, tmp_path):
    done = subprocess.run(
        [sys.executable, EXAMPLES / name], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert TOLD[name] in done.stdout
    assert not list(tmp_path.iterdir())

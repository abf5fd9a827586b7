"""The examples of every kind of question run as they are, and print what they promise."""

import pytest

from examples.running import printed

TOLD = {
    "single_bit.py": "single-bit",
    "survey_bits.py": "votes Dole & college degree",
    "sets.py": "ORD",
    "attributes.py": "delta of the whole record",
    "ages.py": "50 % quantile",
    "open_words.py": "certainly held, all lines at once: ",
}


@pytest.mark.seconds
@pytest.mark.parametrize("name", TOLD)
def test_the_example_runs(name, tmp_path):
    assert TOLD[name] in printed(name, cwd=tmp_path)
    assert not list(tmp_path.iterdir())

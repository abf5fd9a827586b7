"""The three histograms among fake users run as they are, and err as they say they will."""

import re

import pytest

from examples.running import printed


@pytest.mark.seconds
def test_the_example_runs(tmp_path):
    out = printed("fake_users.py", cwd=tmp_path)
    assert not list(tmp_path.iterdir())
    names = re.findall(r"^(5\.\d [a-z-]+):", out, flags=re.MULTILINE)
    assert names == [
        "5.1 clear-uniform", "5.2 flip-uniform", "5.2 flip", "5.3 flip-blank", "5.3 flip-blank",
    ]  # fmt: skip
    errors = re.findall(r"error (\S+) predicted, (\S+) seen", out)
    for predicted, seen in errors:  # 105 counts deviate by 7 %; the seed is fixed
        assert float(seen) == pytest.approx(float(predicted), rel=0.2)
    assert float(errors[1][0]) < 0.8 * float(errors[3][0])
    (left,) = re.findall(r"leaves a delta of at least (\S+)", out)
    assert 0.4 < float(left) < 0.91  # the truth at 100,000 and at a million people
    for formula in ("(5.10)", "(5.16)", "(5.26)"):
        assert f"{formula} asks for" in out

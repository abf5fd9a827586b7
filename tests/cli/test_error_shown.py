"""The error beside an estimate is that of the estimate that is shown."""

import re

import pytest


@pytest.mark.parametrize("seed", range(1, 4))
def test_estimate_less_truth_is_the_error(cli, tmp_path, seed):
    """Of bins that nobody holds about half are estimated below zero, and shown as 0."""
    (tmp_path / "rare.csv").write_text("answer\n" + "a\nb\n" * 500)
    (tmp_path / "labels.txt").write_text("a\nb\n" + "".join(f"none{i}\n" for i in range(12)))
    outcome = cli(
        "simulate", tmp_path / "rare.csv", "--column", "answer", "--labels",
        tmp_path / "labels.txt", "--epsilon", 1, "--delta", "1e-6", "--seed", seed,
    )  # fmt: skip
    row = re.compile(r"│ none\d+ +│ +([\d.]+) │.*│ +0 │ +([+-]?[\d.]+) │")
    found = [(float(a), float(b)) for a, b in row.findall(outcome.out)]
    assert len(found) == 12
    assert all(estimate == error for estimate, error in found)
    assert any(estimate == 0.0 for estimate, _ in found)

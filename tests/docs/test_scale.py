"""The table of docs/how-to/cluster.md follows from the rates beside it."""

import re
from pathlib import Path

import pytest

from mixtally.server.engine.scale import PlannedRound, Rates, compute_intake, hop_costs

PAGE = (Path(__file__).parents[2] / "docs" / "how-to/cluster.md").read_text()
TEXT = " ".join(PAGE.split())
STATED = re.search(
    r"At (\d+) us to open, (\d+) us to order, (\d+) us to seal and (\d+) us to take a bundle of "
    r"two, messages of (\d+) bytes, three mixes, ([\d,]+) fakes",
    TEXT,
)
ROWS = re.findall(
    r"^\| ([\d,]+) \| ([\d.]+) \| ([\d.]+) GB \| (\S+) minutes \| (\S+) m", PAGE, re.M
)


def test_there_are_three_rows():
    assert len(ROWS) == 3


@pytest.mark.parametrize("row", ROWS)
def test_the_row_follows(row):
    opened, order, seal, post, size, fakes = (int(one.replace(",", "")) for one in STATED.groups())
    rates = Rates(open=opened * 1e-6, seal=seal * 1e-6, order=order * 1e-6, sync=1 / 170,
                  post=post * 1e-6)  # fmt: skip
    envelopes = int(row[0].replace(",", ""))
    for cores, told in ((2, row[3]), (32, row[4])):
        of = PlannedRound(envelopes, fakes, 3, size, 48, 2, 86_400.0, cores)
        first = hop_costs(rates, of)[0]
        assert float(told) == pytest.approx(first.closing / 60, rel=0.06)
        assert float(row[1]) == pytest.approx(first.cpu / 3600, rel=0.06)
        assert float(row[2]) == pytest.approx(first.bytes / 1e9, rel=0.06)
    comes = compute_intake(rates, of._replace(envelopes=10**9))
    assert comes.posts == pytest.approx(5800, rel=0.01)
    assert comes.cores == pytest.approx(
        float(re.search(r"keep (\S+) cores busy", TEXT)[1]), rel=0.01
    )

"""Nothing is too small, too pale, cut off or unnamed on any page that a command writes.

Every command plays a small crowd; its page is looked at in Chromium at 360, 768 and 1280 px, on
light and dark screens, and printed, where tables that fold are open.
"""

import contextlib
import io
import shlex
import sys

import pytest

from cli.json_cases import PLANNED, SMALL, lay_out
from mixtally.cli import options
from mixtally.cli.main import run
from mixtally.lab.simulation.seeded import SeededChance
from pages.browser import browser, faults

END = "--epsilon 2 --delta 1e-6 --seed 1 --out out"
BOX = "--latitude lat --longitude lon --box 40,44,-76,-70 --resolution 3"
COMMANDS = {
    "value": "simulate survey.csv --column answer --epsilon 1 --delta 1e-6 --out out",
    "sets": f"simulate survey.csv --column likes --set ';' --pairs {END}",
    "bits": f"simulate survey.csv --columns smokes,drives --as attributes --pairs {END}",
    "number": f"simulate survey.csv --column age --number 0,100 --mix-fakes {END}",
    "memory": f"simulate memoized survey.csv --column answer --reports 5 {END}",
    "epochs": f"simulate epochs survey.csv --column answer --synthetic 4 {END}",
    "words": f"simulate words survey.csv --column answer --top 2 {END}",
    "vote": f"simulate survey.csv --winner --column answer {END}",
    "places": f"simulate places homes.csv {BOX} {END}",
    "baskets": f"simulate baskets survey.csv --column likes --set ';' {END}",
    "contract": f"{SMALL} && simulate survey.csv --column answer --contract small.json --seed 1 "
    "--out out",
    "attack": f"{PLANNED} && check attack plan.json --runs 100 --drawn 1000 --seed 1 --out out",
    "demo": "demo --seed 1 --out out",
}


@pytest.fixture(scope="module")
def shown():
    with browser() as one:
        yield one


def call(line, monkeypatch):
    """Run the commands; those without a seed draw the same every time, too, and do not say so."""
    monkeypatch.setattr(
        options, "make_chance", lambda seed: SeededChance(7 if seed is None else seed)
    )
    for part in line.split(" && "):
        monkeypatch.setattr(sys, "argv", ["mixtally", *shlex.split(part)])
        with contextlib.redirect_stdout(io.StringIO()):
            run()


@pytest.mark.seconds
@pytest.mark.parametrize("name", COMMANDS)
def test_the_pages_of_a_command_can_be_read(shown, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lay_out(tmp_path)
    call(COMMANDS[name], monkeypatch)
    written = sorted(tmp_path.glob("out/**/report.html"))
    assert written
    for path in written:
        assert faults(shown, path.read_text()) == []

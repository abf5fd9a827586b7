"""A page that is published speaks to its readers: no option of a command, nothing to install."""

import contextlib
import io
import re
import shlex
import sys

import pytest

from cli.json_cases import PLANNED, SMALL, lay_out
from mixtally.cli.main import run
from pages.test_pages import BOX

LISTS = {"labels.txt": "yes\nno\nunsure\n", "likes.txt": "tea\nmilk\ncake\n"}
END = "--epsilon 2 --delta 1e-6 --out out"
VALUE = "survey.csv --column answer --labels labels.txt"
LIKES = "survey.csv --column likes --set ';' --labels likes.txt --max-set 3"
COMMANDS = {
    "value": f"simulate {VALUE} {END}",
    "sets": f"simulate {LIKES} {END}",
    "number": f"simulate survey.csv --column age --number 0,100 --mix-fakes {END}",
    "memory": f"simulate memoized {VALUE} --reports 5 {END}",
    "epochs": f"simulate epochs {VALUE} --synthetic 4 {END}",
    "vote": f"simulate {VALUE} --winner {END}",
    "places": f"simulate places homes.csv {BOX} {END}",
    "baskets": f"simulate baskets {LIKES} {END}",
    "contract": f"{SMALL} && simulate survey.csv --column answer --contract small.json --out out",
    "attack": f"{PLANNED} && check attack plan.json --runs 100 --drawn 1000 --seed 1 --out out",
    "demo": "demo --out out",
}
FOR_OWNERS = re.compile(r"(?<![\w-])--[a-z][\w-]+|pip install|install mixtally")


def told(html):
    """What a page says that is for whoever ran the command."""
    return FOR_OWNERS.findall(re.sub("<[^>]+>", " ", re.sub("(?s)<(style).*?</style>", "", html)))


@pytest.mark.seconds
@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_published_names_no_option(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lay_out(tmp_path)
    for file, text in LISTS.items():
        (tmp_path / file).write_text(text)
    for part in COMMANDS[name].split(" && "):
        monkeypatch.setattr(sys, "argv", ["mixtally", *shlex.split(part)])
        with contextlib.redirect_stdout(io.StringIO()):
            run()
    assert told((tmp_path / "out/report.html").read_text()) == []
    simulation = tmp_path / "out/simulation/report.html"
    # The twin: whoever ran it reads the command and its options. The demo has none to name.
    if simulation.exists() and name != "demo":
        assert told(simulation.read_text())

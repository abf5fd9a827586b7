"""The small numbers of the accounting page are those that the library computes."""

import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mixtally.cli.app import app

PAGE = (Path(__file__).parents[2] / "docs/explanation/accounting.md").read_text()
CHECKS = {
    "The identity": ("clear-uniform --bins 2 --fakes 1 --epsilon 1", "delta", "1/2"),
    "flip-blank": ("flip-blank --fakes 1 --flip 0.25 --epsilon 1", "delta", "0.23405"),
    "flip-uniform": (
        "flip-uniform --users 2 --bins 2 --fakes 1 --flip 0.25 --epsilon 1",
        "delta",
        "0.12269",
    ),
    "clear-uniform": ("clear-uniform --bins 2 --fakes 2 --epsilon 0.5", "delta", "0.33782"),
    "Sampled slots": (
        "clear-uniform --bins 4 --max-set 2 --slots 1 --fakes 1 --epsilon 1",
        "delta",
        "0.66667",
    ),
    "clear-shaped": (
        "clear-shaped --shape-decay 0.5 --shape-shift 25 --epsilon 1",
        "delta",
        "9.127e-7",
    ),
    "clear-shaped: paired fakes": (
        "clear-shaped --paired --shape-decay 1 --shape-shift 14 --epsilon 1",
        "delta",
        "3.8426e-7",
    ),
    "kary-response": (
        "kary-response --users 3 --bins 3 --replaced 0.5 --epsilon 1",
        "delta",
        "0.09885",
    ),
    "single-bit": (
        "single-bit --users 3 --fakes 1 --flip 0.25 --epsilon 0.5",
        "delta_lower",
        "0.14252",
    ),
    "flip: no fakes": ("flip --users 2 --bins 2 --flip 0.25 --epsilon 1", "delta", "0.33975"),
}


@pytest.mark.parametrize("section", CHECKS)
def test_number_to_check_by_hand(section):
    command, end, stated = CHECKS[section]
    body = PAGE.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    text = " ".join(body.partition("*Check by hand.*")[2].split())
    assert stated in text
    for shown in re.findall(r"`mixtally check delta --protocol (.*?)`", text):
        assert shlex.split(shown) == shlex.split(command)
    value = 0.5 if stated == "1/2" else float(stated)
    run = CliRunner().invoke(app, ["check", "delta", "--json", "--protocol", *command.split()])
    assert json.loads(run.stdout)[end] == pytest.approx(value, rel=5e-4)

"""Who asks what class a mechanism has: its own file and its divergence, hardly anybody else.

A question that a mechanism answers itself, by an attribute, is one that a new mechanism answers
too; a switch on classes is a place that a new mechanism has to find.
"""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "mixtally"
CLASSES = {"BitFlips", "InClear", "KaryResponse", "Named", "Memoized"}
HOME = ("model", "accounting/divergence")
MOST = 5


def switches(source):
    """The lines of a source that ask for the class of a mechanism."""
    found = []
    for node in ast.walk(ast.parse(source)):
        asked = None
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
            asked = node.args[1]
        elif isinstance(node, ast.MatchClass):
            asked = node.cls
        if asked is not None and CLASSES & {
            name.id for name in ast.walk(asked) if isinstance(name, ast.Name)
        }:
            found.append(node.lineno)
    return found


def test_few_ask_for_the_class_of_a_mechanism():
    found = [
        f"{path.relative_to(SOURCE)}:{line}"
        for path in sorted(SOURCE.rglob("*.py"))
        if not str(path.relative_to(SOURCE)).startswith(HOME)
        for line in switches(path.read_text())
    ]
    assert len(found) <= MOST, found


@pytest.mark.parametrize(
    "source",
    [
        "isinstance(m, BitFlips)",
        "assert isinstance(m.mechanism, InClear | KaryResponse)",
        "isinstance(m, (int, Memoized))",
        "match m:\n    case KaryResponse(bins=2):\n        pass",
    ],
)
def test_a_switch_is_found(source):
    assert len(switches(source)) == 1


def test_what_is_no_switch_is_not_found():
    assert switches("isinstance(m, Shuffled) or BitFlips(bins=2)") == []

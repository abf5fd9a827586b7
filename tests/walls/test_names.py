"""Functions are named by verbs, and a class name stands for few things."""

import ast
from collections import Counter
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src/mixtally"
IRREGULAR = """
begun bound bought brought built came caught chosen come dealt done drawn driven fallen fed felt
found given gone got grown heard held hidden kept known laid led left lent lost made meant met
paid proven risen said seen sent shaken shown sold spent spoken stolen stood struck swept swung
taken taught thought thrown told torn understood woken won worn written
"""
VERBS = {"embed", "feed", "need", "proceed", "read", "run", "seed", "speed", "spread"}
"""Words that look like participles and are also imperatives."""


def is_participle(name):
    word = name.strip("_")
    if "_" in word or word in VERBS or name.startswith("__"):
        return False
    return word.endswith("ed") or word in IRREGULAR.split()


def definitions(source=SOURCE):
    """Every function and class below ``source``, as pairs of kind and name."""
    for path in sorted(source.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield "function", node.name
            elif isinstance(node, ast.ClassDef):
                yield "class", node.name


def participles(source=SOURCE):
    return [
        name for kind, name in definitions(source) if kind == "function" and is_participle(name)
    ]


def crowded(source=SOURCE):
    """The names that more than two classes share."""
    count = Counter(name for kind, name in definitions(source) if kind == "class")
    return {name for name, times in count.items() if times > 2}


def test_few_functions_are_named_by_a_bare_participle():
    assert len(participles()) <= 10


def test_no_class_name_stands_for_more_than_two_things():
    assert crowded() == set()


def test_names_of_that_kind_are_found(tmp_path):
    (tmp_path / "one.py").write_text("def made(): ...\ndef _seen(): ...\ndef is_seen(): ...\n")
    for place in "abc":
        (tmp_path / f"{place}.py").write_text("class Counted: ...\n")
    assert sorted(participles(tmp_path)) == ["_seen", "made"]
    assert crowded(tmp_path) == {"Counted"}

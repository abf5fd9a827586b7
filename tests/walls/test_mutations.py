"""The list of mutations fits the sources: each snippet stands once, each test is there."""

import importlib.util
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def script():
    """The program, loaded from its file: scripts are no package."""
    spec = importlib.util.spec_from_file_location("mutate", ROOT / "scripts/mutate.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutate"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


mutate = script()
MUTATIONS = mutate.read_mutations()


def test_every_snippet_stands_exactly_once():
    assert mutate.find_misplaced(MUTATIONS, ROOT) == []


def test_every_package_has_some_and_none_was_dropped():
    planted = Counter(one.package for one in MUTATIONS)
    shipped = ROOT / "src/mixtally"
    for package in planted:
        folder = ROOT / package if package == "literature" else shipped / package
        assert (folder / "__init__.py").exists()
    packages = [folder for folder in shipped.iterdir() if (folder / "__init__.py").exists()]
    for package in packages:
        modules = {path.stem for path in package.glob("*.py")} - {"__init__"}
        whole = len(modules) > 1  # protocol has one beside its folders
        for part in [package] if whole else package.glob("*/__init__.py"):
            name = part if whole else part.parent
            assert name.relative_to(shipped).as_posix() in planted
    assert min(planted.values()) >= 3
    assert len(MUTATIONS) >= 300


def test_every_mutation_stands_in_its_package():
    found, shipped = mutate.places(MUTATIONS, ROOT), ROOT / "src/mixtally"
    for one in MUTATIONS:
        (path,) = found[one.id]
        if path.is_relative_to(shipped):
            assert path.relative_to(shipped).as_posix().startswith(f"{one.package}/"), one.id
        else:
            assert one.package == path.relative_to(ROOT).parts[0], one.id


def test_every_mutation_leaves_python():
    places = mutate.places(MUTATIONS, ROOT)
    for one in MUTATIONS:
        (path,) = places[one.id]
        compile(path.read_text().replace(one.find, one.replace), one.id, "exec")


def test_every_named_test_is_there():
    for one in MUTATIONS:
        for test in one.tests:
            file, _, name = test.partition("::")
            assert (ROOT / file).exists(), one.id
            if name:
                assert f"def {name.split('[')[0]}(" in (ROOT / file).read_text(), one.id


def test_a_snippet_that_is_gone_or_doubled_is_found(tmp_path):
    for part, text in (("src", "x = 1\ny = 2\n"), ("literature", "y = 2\n")):
        (tmp_path / part).mkdir()
        (tmp_path / part / "a.py").write_text(text)
    planted = [
        mutate.Mutation(name, "package", find, "", "why", ("tests",))
        for name, find in (("one", "x = 1"), ("none", "x = 2"), ("two", "y = 2"))
    ]
    assert mutate.find_misplaced(tuple(planted), tmp_path) == [
        "none: expected its snippet once in the sources, got 0 times",
        "two: expected its snippet once in the sources, got 2 times",
    ]


@pytest.mark.parametrize(
    "second", ['id = "a"\nreplace = "z"\ntests = ["t"]', 'id = "b"\nreplace = "x"\ntests = ["t"]',
               'id = "b"\nreplace = "z"\ntests = []'],
)  # fmt: skip
def test_a_list_that_says_nothing_or_twice_is_refused(tmp_path, second):
    head = '[[mutation]]\npackage = "r"\nfind = "x"\nwhy = "w"\n'
    path = tmp_path / "mutations.toml"
    path.write_text(f'{head}id = "a"\nreplace = "y"\ntests = ["t"]\n{head}{second}\n')
    with pytest.raises(ValueError, match="expected a name of its own"):
        mutate.read_mutations(path)

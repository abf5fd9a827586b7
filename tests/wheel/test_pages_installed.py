"""README's programs need what README tells to install, and notebooks what they say; nothing else.

Who has installed that and no more runs them without the commands of any Python on the path.
"""

import ast
import json
import re
import sys
from pathlib import Path

import pytest

from notebooks.test_notebooks import SAYS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
PROGRAMS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
NOTEBOOKS = sorted((ROOT / "docs" / "tutorials").glob("*.ipynb"))
RUNNER = (ROOT / "scripts" / "run_notebooks.py").read_text()


def told():
    """The extras of the line by which README installs the wheel."""
    return re.search(r"^pip install 'dist/\S+\[([\w,]+)\]'$", README, re.MULTILINE)[1].split(",")


def imported(program):
    """The packages that a program imports by itself, those of the standard library apart."""
    nodes = [*ast.walk(ast.parse(program))]
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    return {name.partition(".")[0] for name in names} - sys.stdlib_module_names


def cells(path):
    found = json.loads(path.read_text())["cells"]
    return "\n".join("".join(one["source"]) for one in found if one["cell_type"] == "code")


@pytest.mark.parametrize("program", [*PROGRAMS, *map(cells, NOTEBOOKS)])
def test_it_imports_nothing_but_this_package(program):
    assert imported(program) == {"mixtally"}


def test_an_import_too_many_is_noticed():
    assert imported("import mixtally, pandas\nfrom polars.io import x\nimport random") == {
        "mixtally", "pandas", "polars",
    }  # fmt: skip


@pytest.mark.seconds
def test_readmes_programs_run_after_its_own_install_line(installed, tmp_path):
    lab = installed(*told())
    for program in PROGRAMS:
        done = lab.run(program, where=tmp_path)
        assert (done.returncode, done.stderr) == (0, ""), program
        assert done.stdout.startswith("Protects: ")
    assert "No module named 'pandas'" in lab.run("import pandas", where=tmp_path).stderr


@pytest.mark.seconds
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_with_lab_data_and_plot_alone(installed, tmp_path, path):
    copy = tmp_path / path.name
    copy.write_text(path.read_text())
    program = f"__file__ = {str(ROOT / 'scripts' / 'run_notebooks.py')!r}\n{RUNNER}"
    done = installed("lab", "data", "plot").run(program, copy, where=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    kinds = [
        [kind for one in cell["outputs"] for kind in one.get("data", ())]
        for book in (path, copy)
        for cell in json.loads(book.read_text())["cells"]
        if cell["cell_type"] == "code"
    ]
    assert kinds[: len(kinds) // 2] == kinds[len(kinds) // 2 :]
    made = [cell for cell in json.loads(copy.read_text())["cells"] if cell["cell_type"] == "code"]
    streams = [one["text"] for cell in made for one in cell["outputs"] if "text" in one]
    printed = "".join("".join(text) for text in streams)
    for pattern in SAYS[path.stem]:
        assert re.search(pattern, printed, re.MULTILINE), (pattern, printed)

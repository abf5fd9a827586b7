"""Run the notebooks of docs/tutorials, and store their outputs in them.

    python scripts/run_notebooks.py [NOTEBOOK ..]

Cells run in order in an empty folder, as in a kernel. The outputs are the printed text, and the
pictures and tables of the last expression of a cell. The program needs the packages of the
notebooks, but not Jupyter.
"""

import ast
import base64
import contextlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).parents[1] / "docs" / "tutorials"
PICTURES = {"image/svg+xml": "_repr_svg_", "image/png": "_repr_png_", "text/html": "_repr_html_"}


def render_value(value: Any) -> dict[str, Any]:
    """Return the representations of a value by MIME type."""
    if hasattr(value, "_repr_mimebundle_"):
        return dict(value._repr_mimebundle_())
    found: dict[str, Any] = {"text/plain": repr(value)}
    for kind, method in PICTURES.items():
        if hasattr(value, method):
            data = getattr(value, method)()
            found[kind] = base64.b64encode(data).decode() if isinstance(data, bytes) else data
    return found


def lines(text: str) -> list[str]:
    """Return the lines of a text with their ends."""
    return text.splitlines(keepends=True)


def run_cell(source: str, names: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Run one cell and return its outputs."""
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), f"cell {count}", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"cell {count}", "eval"), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        text = lines(printed.getvalue())
        outputs.append({"name": "stdout", "output_type": "stream", "text": text})
    if value is not None:
        data = {kind: lines(text) for kind, text in render_value(value).items()}
        told = {"execution_count": count, "metadata": {}, "output_type": "execute_result"}
        outputs.append({"data": data, **told})
    return outputs


def run(notebook: dict[str, Any]) -> None:
    """Run all cells in order and store their outputs in ``notebook``."""
    names: dict[str, Any] = {"__name__": "__main__"}
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for count, cell in enumerate(code, 1):
        cell["outputs"] = run_cell("".join(cell["source"]), names, count)
        cell["execution_count"] = count


def main() -> None:
    """Run the given notebooks, or all."""
    paths = [Path(name).resolve() for name in sys.argv[1:]] or sorted(NOTEBOOKS.glob("*.ipynb"))
    for path in paths:
        notebook = json.loads(path.read_text())
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            run(notebook)
            os.chdir(NOTEBOOKS)
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()

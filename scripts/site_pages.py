"""Pages of the site that are not files of docs/: the README and its neighbors, and notebooks.

MkDocs calls ``on_files`` and ``on_page_markdown``. Notebooks become Markdown, and the page of
commands receives their help texts. Links are written for the repository. On the site they lead to
the page of the same file. A link without a page becomes plain text. Formulas between lines of two
dollars become pictures, which need neither a script nor a font.
"""

import json
import os.path
import re
from html import escape
from pathlib import Path
from typing import Any

import ziamath
from mkdocs.structure.files import File
from typer.testing import CliRunner

from mixtally.cli.app import COMMANDS, app

# Paths instead of symbols: two formulas on a page would repeat the ids of symbols.
ziamath.config.svg2 = False
ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
TOP = {"README.md": "index.md"} | {
    name: name
    for name in ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "SPEC.md")
}
COMMANDS_PAGE = "reference/commands.md"
SCRIPTS = ("iframe-worker.js",)
FORMULA = re.compile(r"^\$\$\n(.+?)\n\$\$$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)#\s]+)(#[^)]*)?\)")


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are not files of docs/."""
    for name, page in TOP.items():
        files.append(File.generated(config, page, content=(ROOT / name).read_text()))
    for notebook in sorted(DOCS.glob("tutorials/*.ipynb")):
        page = f"tutorials/{notebook.stem}.md"
        files.append(File.generated(config, page, content=as_markdown(notebook)))
    for script in SCRIPTS:
        content = (ROOT / "scripts" / script).read_text()
        files.append(File.generated(config, f"assets/{script}", content=content))
    return files


def on_page_markdown(markdown: str, *, page: Any, files: Any, **_: Any) -> str:
    """Return the page with its links turned into links of the site."""
    here = page.file.src_uri
    origin = ROOT if here in TOP.values() else (DOCS / here).parent
    known = set(files.src_uris)

    def replace_formula(found: re.Match[str]) -> str:
        picture, text, place, anchor = found.groups()
        target = uri_of((origin / place).resolve())
        if target not in known:
            return text
        path = os.path.relpath(target, os.path.dirname(here) or ".")
        return f"{picture}[{text}]({path}{anchor or ''})"

    told = LINK.sub(replace_formula, FORMULA.sub(draw_formula, markdown))
    return told + helps() if here == COMMANDS_PAGE else told


def draw_formula(formula: re.Match[str]) -> str:
    """Return a LaTeX formula as SVG; a formula wider than the page can be scrolled."""
    # With unbalanced braces, ziamath would silently draw only part of the formula.
    if formula[1].count("{") != formula[1].count("}"):
        raise ValueError(f"expected closed braces in a formula, got {formula[1]!r}")
    picture = ziamath.Latex(formula[1], size=18, color="currentColor").svg()
    heard = escape(formula[1], quote=True)
    named = picture.replace("<svg ", f'<svg role="img" aria-label="{heard}" ', 1)
    return f'<div class="formula" style="overflow-x:auto;margin:1em 0">{named}</div>'


def helps() -> str:
    """Return the help text of every command with all its options."""
    parts = ["", "## All options"]
    for name, command in COMMANDS.items():
        flag = "--help-all" if command.function else "--help"
        done = CliRunner().invoke(app, [*name.split(), flag], env={"COLUMNS": "100"})
        if done.exit_code != 0:
            raise RuntimeError(f"mixtally {name} {flag}: {done.output}")
        parts += [f"### mixtally {name}", f"```text\n{done.output.rstrip()}\n```"]
    return "\n\n".join(parts) + "\n"


def uri_of(path: Path) -> str:
    """Return the page of the site for a file of the repository."""
    if path.suffix == ".ipynb":
        path = path.with_suffix(".md")
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS).as_posix()
    name = path.relative_to(ROOT).as_posix()
    return TOP.get(name, name)


def as_markdown(notebook: Path) -> str:
    """Return the text and the programs of a notebook, without outputs."""
    cells = json.loads(notebook.read_text())["cells"]
    parts = [
        "".join(cell["source"])
        if cell["cell_type"] == "markdown"
        else f"```python\n{''.join(cell['source'])}\n```"
        for cell in cells
    ]
    return "\n\n".join(parts) + "\n"

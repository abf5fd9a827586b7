"""`make literature`: the founding documents, recomputed, as tables and as a page."""

import argparse
import shlex
import sys
from dataclasses import replace
from pathlib import Path

from literature import DOCUMENTS, reproduce
from literature.document import document
from mixtally.app.outcome import Outcome
from mixtally.cli.display import show
from mixtally.cli.progress import progress_bars
from mixtally.errors import InputError


def main(arguments: list[str] | None = None) -> int:
    """Print every finding, write the page, and return 0; return 2 for invalid arguments."""
    parser = argparse.ArgumentParser(prog="python -m literature", description=__doc__)
    names = ", ".join(DOCUMENTS)
    parser.add_argument("--document", help=f"only one of {names}; 003 includes 001")
    parser.add_argument("--out", type=Path, default=Path("out/literature"), help="the folder")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    asked = parser.parse_args(arguments)
    try:
        with progress_bars() as progress:
            found = reproduce(asked.document, progress)
        made_by = shlex.join(["python", "-m", "literature", *(arguments or sys.argv[1:])])
        shown = replace(document(found), made_by=made_by)
        show(Outcome(document=shown), asked.out, json=asked.json)
    except InputError as error:
        print(f"literature: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

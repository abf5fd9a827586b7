"""A folder with everything that the calls in ``refusals.json`` read, and the call of each row.

Files in ``bad`` are those that ``cli.test_bad_files`` refuses, one for each case.
"""

import contextlib
import io
import re
import shlex
import sys
from pathlib import Path
from unittest.mock import patch

from api.wrong import WRONG
from cli.json_cases import CONTRACT, lay_out
from cli.test_bad_files import BAD
from mixtally.cli.main import run
from mixtally.errors import InputError

PLAN = "plan --epsilon 1 --delta 1e-6 --users 1000"
PREPARED = (
    f"{PLAN} --bins 20 --out bins.json",
    f"{PLAN} --labels words.txt --out small.json",
    f"{PLAN} --open --mix-fakes --hash-seed 00112233445566778899aabbccddeeff --out open.json",
    *CONTRACT.split(" && "),
    "budget open me.ledger --epsilon 3 --delta 1e-5",
    "collector init collector --name c --operator C --address http://127.0.0.1:7000 --port 0",
)
FILES = {
    "colors.csv": b"no,color\n1,red\n2,blue\n1,red\n",
    "western.csv": "no,color\n1,caf\u00e9\n2,red\n".encode("latin-1"),
    "lines.json": b'{"no": 1, "color": "red"}\n{"no": 2, "color": "blue"}\n',
    "ages.csv": b"age\n31\n2,5\n",
    "bits.csv": b"bits\n0101\n010\n",
    "spaced.csv": b"city\nNew York\nLima\nNew  York\n",
    "alone.txt": b"red\n",
    "twice.txt": b"red\nblue\nred\n",
    "gap.txt": b"red\n\nblue\n",
    "western.txt": b"r\xe9d\nblue\n",
    "groups.csv": b"nothing\n",
}


HIDDEN = (
    (
        re.compile(r"(?<=got ndarray )array.*?(?=, dtype)|(?<=got list )\[messages.*?\.\.(?=\.)"),
        "MESSAGES",
    ),
    (re.compile(r"\b[0-9a-f]{16}\b"), "FINGERPRINT"),
)


def lay_out_desk(desk: Path) -> None:
    """Write all files into an empty folder, and make the plans, the contract and the ledger."""
    lay_out(desk)
    (desk / "bad").mkdir()
    for name, content in FILES.items():
        (desk / name).write_bytes(content)
    for case, (content, _) in BAD.items():
        if content is not None:
            (desk / "bad" / case.replace(" ", "-")).write_bytes(content)
    with contextlib.chdir(desk):
        for call in PREPARED:
            refusal = run_command(call)
            assert refusal is None, refusal


def run_command(call: str) -> str | None:
    """Run a command line in this process; return its last line on standard error if it fails."""
    said = io.StringIO()
    status: object = 0
    with (
        patch.object(sys, "argv", ["mixtally", *shlex.split(call)]),
        patch.dict("os.environ", {"COLUMNS": "200"}),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(said),
    ):
        try:
            run()
        except SystemExit as end:
            status = end.code or 0
    lines = said.getvalue().strip().splitlines()
    return lines[-1] if status else None


def refusal_of(row: dict[str, str], desk: Path) -> str | None:
    """Return the text with which the call of a row is refused now; None if it succeeds.

    Words in capital letters replace the names of temporary folders, random messages and
    fingerprints.
    """
    if "command" in row:
        with contextlib.chdir(desk):
            text = run_command(row["command"])
    else:
        folder = desk / re.sub(r"\W", "-", row["python"])
        folder.mkdir(exist_ok=True)
        try:
            WRONG[row["python"]](folder)
        except InputError as error:
            text = str(error)
        else:
            text = None
        if text is not None:
            text = text.replace(str(folder), "FOLDER")
    if text is not None:
        for pattern, word in HIDDEN:
            text = pattern.sub(word, text)
        text = text.replace(str(desk), "DESK")
    return text

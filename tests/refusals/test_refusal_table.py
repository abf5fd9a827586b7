"""Every refusal in ``refusals.json``, word for word.

The table is for readers: whoever changes a message reads it there among the others, as a user
meets it. A row names a command line, or a mistake in ``api.wrong``. To write the texts again:

    cd tests && ../.venv/bin/python -m refusals.test_refusal_table
"""

import json
import re
import tempfile
from pathlib import Path

import pytest

from api.wrong import WRONG
from refusals.desk import lay_out_desk, refusal_of

TABLE = Path(__file__).with_name("refusals.json")
ROWS: list[dict[str, str]] = json.loads(TABLE.read_text())
FORM = re.compile(r"\S.*?: expected \S.*, got \S.*?[.!?] [\w`-].*\S", re.DOTALL)


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    folder = tmp_path_factory.mktemp("desk")
    lay_out_desk(folder)
    return folder


def test_the_table_is_large_and_has_every_mistake_in_python():
    assert len({row["text"] for row in ROWS}) >= 300
    assert {row["python"] for row in ROWS if "python" in row} == set(WRONG)


def test_every_text_has_three_parts():
    assert [row["text"] for row in ROWS if not FORM.fullmatch(row["text"])] == []


@pytest.mark.parametrize("some", range(8))
def test_each_refusal_is_what_the_table_says(desk, some):
    changed = {
        row["text"]: found
        for row in ROWS[some::8]
        if (found := refusal_of(row, desk)) != row["text"]
    }
    assert changed == {}


def test_another_word_is_noticed(desk):
    row = next(row for row in ROWS if "command" in row)
    assert refusal_of(row, desk) != row["text"].replace("expected", "wanted")
    assert refusal_of({"command": "budget show me.ledger"}, desk) is None


def write_again() -> None:
    """Write the texts of all rows as they are now; a row that succeeds is an error."""
    with tempfile.TemporaryDirectory() as folder:
        lay_out_desk(Path(folder))
        for row in ROWS:
            text = refusal_of(row, Path(folder))
            if text is None:
                raise SystemExit(f"not refused: {row}")
            row["text"] = text
    TABLE.write_text(json.dumps(ROWS, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    write_again()

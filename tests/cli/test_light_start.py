"""What a command does not need it does not load, and what it prints stays as it is."""

import subprocess
import sys

import pytest

from mixtally.cli.display import console_of

PROGRAM = "import sys; from mixtally.cli.main import run; sys.argv = {argv!r}; run(); {said}"
SAID = "print([name for name in {heavy!r} if name in sys.modules], file=sys.stderr)"
HEAVY = ["pandas", "pydantic", "pyspark", "opendp", "scipy", "numpy"]
PROMISE = ["--epsilon", "1", "--delta", "1e-6"]


def loaded(*words, cwd):
    program = PROGRAM.format(argv=["mixtally", *words], said=SAID.format(heavy=HEAVY))
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=cwd, capture_output=True, text=True, check=True
    )
    return done.stderr.splitlines()[-1]


def test_a_plan_loads_numpy_alone(tmp_path):
    words = ["plan", "--users", "1000", "--bins", "4", *PROMISE]
    assert loaded(*words, cwd=tmp_path) == "['numpy']"


def test_the_help_of_a_device_loads_nothing_heavy(tmp_path):
    assert loaded("client", "--help", cwd=tmp_path) == "[]"


def test_files_are_read_without_pandas(tmp_path):
    pytest.importorskip("pandas", reason="pandas is not installed: nothing could load it")
    (tmp_path / "survey.csv").write_text("answer\n" + "yes\nno\n" * 200)
    (tmp_path / "labels.txt").write_text("yes\nno\n")
    seen = loaded(
        "simulate", "survey.csv", "--column", "answer", "--labels", "labels.txt", *PROMISE,
        cwd=tmp_path,
    )  # fmt: skip
    assert "pandas" not in seen
    assert "numpy" in seen


def test_words_between_colons_are_no_pictures(capsys):
    console_of().print(":smile:", markup=False)
    assert capsys.readouterr().out == ":smile:\n"

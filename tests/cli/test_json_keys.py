"""The JSON that scripts rely on: keys and types stay, and values that owe nothing to chance.

``json_keys.json`` has for every command in ``json_cases.py`` the path of every key (``a.b``, the
elements of a list as ``[]``) with its JSON type, and its value (the first eight of a list) unless
it varies with the seed or is prose. Further keys are free to come. Where a key or a value is meant
to change, or a case is new, write the file again (minutes; with a word, only cases that hold it)
and read the difference:

    cd tests && ../.venv/bin/python -m cli.test_json_keys [WORD]
"""

import contextlib
import json
import re
import shlex
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from cli.json_cases import FAST, SECONDS, SLOW, command_of, lay_out
from cli.test_promise_first import check_told, concludes, printed

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).with_name("json_keys.json")
SEEDS = (1, 2, 3, 4)
ROLES = ("client ", "mix ", "collector ", "page ", "check round ")
"""Commands that talk to others: what they print is pinned where a network stands around them."""
MOST = 8  # values of a list that are pinned
# Another processor adds up in another order, and a search may end one step of rounding elsewhere:
# as seen, thresholds then differ by 2 in 10^15, and a delta found with one by 2 in 10^9.
CLOSE = 1e-8
EXACT = 10**12  # larger integers are thresholds: how a processor rounds moves their last digits
ENUM = re.compile(r"[a-z][a-z_-]{0,31}")
TYPES = {
    type(None): "null", bool: "boolean", int: "integer", float: "number", str: "string",
    list: "array", dict: "object",
}  # fmt: skip

Pin = dict[str, Any]


def outcome(case: str, seed: int, desk: Path) -> Any:
    """The JSON of the last command of a case; a report in ``--out`` must be the same."""
    lay_out(desk)
    *before, last = (shlex.split(part) for part in case.replace("{seed}", str(seed)).split(" && "))
    with contextlib.chdir(desk):
        for arguments in before:
            out, said = printed(arguments)
            assert out, (arguments, said)
        out, said = printed(last)
        assert out, (last, said)
        told = json.loads(out)
        if "--out" in last:
            folder = Path(last[last.index("--out") + 1])
            place = "simulation" if "simulation" in told else "."
            report = folder / place / "result.json"
            if folder.is_dir() and last[:2] not in (["batch", "randomize"], ["batch", "mix"]):
                assert json.loads(report.read_text()) == told
    return told


def leaves(value: Any) -> dict[str, list[Any]]:
    """Every value below ``value`` by its path."""
    found: dict[str, list[Any]] = defaultdict(list)

    def walk(path: str, here: Any) -> None:
        if path:
            found[path].append(here)
        if isinstance(here, dict):
            for key, below in here.items():
                walk(f"{path}.{key}" if path else key, below)
        elif isinstance(here, list):
            for below in here:
                walk(path + "[]", below)

    walk("", value)
    return found


def types(values: list[Any]) -> set[str]:
    return {TYPES[type(value)] for value in values}


def pinnable(values: list[Any]) -> bool:
    """Whether all of them are numbers, truths, nulls or names of few letters, not all null."""
    return any(value is not None for value in values) and all(
        not isinstance(value, (list, dict))
        and (not isinstance(value, str) or ENUM.fullmatch(value) is not None)
        for value in values
    )


def pin(runs: list[dict[str, list[Any]]], *, values: bool = True) -> Pin:
    """What all runs of a case have in common; without ``values`` keys and types alone."""
    pinned: Pin = {}
    for path in runs[0]:
        if all(path in run for run in runs):
            kinds = set().union(*(types(run[path]) for run in runs))
            pinned[path] = ["|".join(sorted(kinds))]
            one = runs[0][path]
            if values and pinnable(one) and all(run[path] == one for run in runs):
                pinned[path].append(one[:MOST])
    return pinned


def same(was: Any, now: Any) -> bool:
    if type(was) is not type(now):
        return False
    rounded = isinstance(was, float) or (isinstance(was, int) and was > EXACT)
    return abs(was - now) <= CLOSE * abs(was) if rounded else was == now


def faults(pinned: Pin, told: dict[str, list[Any]]) -> list[str]:
    """What no longer is as it was, a line each."""
    lines = []
    for path, (kinds, *values) in pinned.items():
        if path not in told:
            lines.append(f"{path}: vanished")
        elif not types(told[path]) <= set(kinds.split("|")):
            lines.append(f"{path}: was {kinds}, is {' and '.join(sorted(types(told[path])))}")
        elif values and len(told[path]) < len(values[0]):
            lines.append(f"{path}: had {len(values[0])} values or more, has {len(told[path])}")
        elif values:
            lines += [
                f"{path}: was {was!r}, is {now!r}"
                for was, now in zip(values[0], told[path], strict=False)
                if not same(was, now)
            ]
    return lines


@pytest.mark.parametrize(
    "case",
    [
        *FAST,
        *(pytest.param(case, marks=pytest.mark.seconds) for case in SECONDS),
        *(pytest.param(case, marks=pytest.mark.slow) for case in SLOW),
    ],
)
def test_keys_types_and_values_stay(case, tmp_path):
    told = outcome(case, SEEDS[0], tmp_path)
    if concludes(case):
        check_told(told)
    assert faults(json.loads(FILE.read_text())[case], leaves(told)) == []


def test_the_file_has_these_cases():
    assert [*json.loads(FILE.read_text())] == [*FAST, *SECONDS, *SLOW]


def test_faults_are_found():
    pinned = pin(
        [leaves({"a": {"b": [{"c": 1.5}, {"c": 2.5}]}, "n": 3, "s": "proved", "t": "A b"})]
    )
    good = {"a": {"b": [{"c": 1.5}, {"c": 2.5}]}, "n": 3, "s": "proved", "t": "other", "more": 1}
    assert faults(pinned, leaves(good)) == []
    for bad in (
        {"n": 4}, {"n": 3.0}, {"n": True}, {"n": None}, {"s": "measured"}, {"t": 1},
        {"a": {"b": [{"c": 1.5}]}}, {"a": {"b": []}}, {"a": {"b": [{"c": 1.5}, {"c": 2.500001}]}},
    ):  # fmt: skip
        assert len(faults(pinned, leaves({**good, **bad}))) >= 1, bad
    for key in ("a", "n", "s", "t"):
        assert faults(pinned, leaves({k: v for k, v in good.items() if k != key}))


CHOICES = {"--protocol", "--formula", "--document", "--as"}  # their values make another form


def form(command: str) -> tuple[str, frozenset[str]]:
    """A command and its options, without those that only say where or how the result is shown."""
    words = shlex.split(command)
    found = set()
    for i, word in enumerate(words):
        if word.startswith("--"):
            found.add(f"{word} {words[i + 1]}" if word in CHOICES and words[i + 1 :] else word)
    name = " ".join(words[:2]) if words[0] in ("budget", "contract") else command_of(command)
    return name, frozenset(found - {"--out", "--json", "--seed", "--help", "--note"})


def documented() -> set[str]:
    """Every command line in blocks and in the text of README and docs/."""
    found = set()
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        text = page.read_text().replace("\\\n", " ")
        found |= {*re.findall(r"^ *mixtally ([a-z].*?)(?:  #.*)?$", text, flags=re.MULTILINE)}
        found |= {*re.findall(r"`mixtally ([a-z][^`]*)`", text)}
    whole = {line for line in found if line.split()[-1] not in CHOICES}  # nothing is to be added
    return {line for line in whole if not line.startswith(ROLES)}


def test_every_documented_form_is_a_case():
    known = [form(part) for case in (*FAST, *SECONDS, *SLOW) for part in case.split(" && ")]
    missing = [
        line
        for line in documented()
        for name, options in [form(line.replace("\n", " "))]
        if not any(f"{of} ".startswith(f"{name} ") and options <= had for of, had in known)
    ]
    assert missing == []


def main() -> None:
    """Write the file: every case once for each seed, or those with a given word in them."""
    pins, before = {}, json.loads(FILE.read_text())
    for case in (*FAST, *SECONDS, *SLOW):
        if case in before and not all(word in case for word in sys.argv[1:]):
            pins[case] = before[case]
            continue
        runs = []
        for seed in SEEDS:
            with tempfile.TemporaryDirectory() as desk:
                runs.append(leaves(outcome(case, seed, Path(desk))))
        # Kept responses take no seed, and what is drawn anew every time may coincide by chance; a
        # machine is told of as it is.
        fixed = "--state" not in case and not case.startswith("batch doctor")
        pins[case] = pin(runs, values=fixed)
    blocks = []
    for case, pinned in pins.items():
        rows = ",\n".join(
            f"  {json.dumps(path)}: {json.dumps(row)}" for path, row in pinned.items()
        )
        blocks.append(f" {json.dumps(case)}: {{\n{rows}\n }}")
    FILE.write_text("{\n" + ",\n".join(blocks) + "\n}\n")


if __name__ == "__main__":
    main()

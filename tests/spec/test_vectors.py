"""The vectors: a stranger's program agrees with every one, and the script makes them again."""

import ast
import importlib.util
import io
import json
import re
import sys
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

from mixtally.device import client
from mixtally.errors import InputError
from mixtally.model.contract import read_contract, write_contract
from spec import stranger

ROOT = Path(__file__).parents[2]
EVERY = {path.stem: path for path in sorted((ROOT / "vectors").glob("*.json"))}
PART_ONE = {"messages", "recipe", "fingerprint", "shape"} | {
    f"refused {what}" for what in ("contract", "value", "by limits")
}
FILES = {n: path for n, path in EVERY.items() if json.loads(path.read_text())["what"] in PART_ONE}
SPEC = (ROOT / "SPEC.md").read_text()
WANTED = ("messages", "fakes", "fingerprint", "weights", "delta", "reason")
ROOM = [
    path
    for room in ("client", "contract", "wire")
    for path in (ROOT / "src/mixtally/device" / room).glob("*.py")
]


def read(name):
    return json.loads(EVERY[name].read_text())


def wanted(vector):
    """What a vector says that must be found."""
    said = {name: vector[name] for name in WANTED if name in vector}
    if "messages" in vector or "fakes" in vector:
        said["unused"] = 0
    return said


@pytest.mark.parametrize("name", FILES)
def test_a_program_written_from_the_page_agrees(name):
    vector = read(name)
    assert stranger.found(vector) == wanted(vector)


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("messages-positions", "words", "00" * 8),
        ("messages-number-on-an-edge", "value", 0.09),
        ("recipe-shaped-borders", "words", None),
        ("refused-contract-hop-twice", "reason", "hops-twice"),
    ],
)
def test_a_vector_that_is_wrong_is_noticed(name, field, value):
    vector = read(name)
    if value is None:
        value = "ff" + vector[field][2:]
    vector[field] = value + vector[field][len(value) :] if field == "words" else value
    assert stranger.found(vector) != wanted(vector)


@cache
def script():
    """The program that writes them, loaded from its file."""
    path = ROOT / "scripts/make_vectors.py"
    spec = importlib.util.spec_from_file_location("make_vectors", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["make_vectors"] = module
    spec.loader.exec_module(module)
    return module


def room(vector):
    """What the device's room finds for a contract and a value, in the words of the vector."""
    if "reason" in vector:
        return {"reason": script().reason_of(vector)}
    data, words = vector["contract"].encode(), bytes.fromhex(vector["words"])
    tape = io.BytesIO(words)

    def source(count):
        return tape.read(8 * count)

    more = {name: vector[name] for name in ("prefixes", "closing")}
    sent = client.messages(client.parse_contract(data).plan, vector["value"], source, **more)
    assert tape.tell() == len(words)
    return {"messages": [[message.hex() for message in part] for part in sent]}


@pytest.mark.parametrize(
    "name", [name for name in FILES if name.startswith(("messages", "refused"))]
)
def test_the_room_agrees(name):
    vector = read(name)
    assert room(vector) == {name: vector[name] for name in ("messages", "reason") if name in vector}


@pytest.mark.parametrize("name", [name for name in FILES if "contract" in name])
def test_the_records_refuse_the_same_contracts(name):
    vector = read(name)
    data = bytes.fromhex(vector.get("contract_hex", "")) or vector["contract"].encode()
    with pytest.raises(InputError):
        read_contract(data, name)


@pytest.mark.parametrize("name", [name for name in FILES if name.startswith("messages")])
def test_the_records_take_the_good_ones(name):
    data = read(name)["contract"].encode()
    assert write_contract(read_contract(data, name)) == data


def test_the_script_makes_these_files_again():
    made = script().vectors()
    assert {f"{name}.json" for name in EVERY} == set(made)
    assert [
        n for n, data in made.items() if EVERY[n.removesuffix(".json")].read_bytes() != data
    ] == []


def imports(path):
    """The modules that a file imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        if isinstance(node, ast.ImportFrom):
            yield node.module


def test_the_stranger_uses_no_library():
    for name in (
        "stranger",
        "stranger_answers",
        "stranger_contract",
        "stranger_forms",
        "stranger_roles",
        "stranger_notes",
        "stranger_wire",
        "stranger_lists",
    ):
        used = {one.split(".")[0] for one in imports(Path(__file__).with_name(f"{name}.py"))} - {
            "spec"
        }
        assert used <= set(sys.stdlib_module_names)


def test_every_reason_is_on_the_page_in_the_room_and_in_a_vector():
    page = SPEC[SPEC.index("## 9. Reasons") : SPEC.index("## 10.")]
    named = set(re.findall(r"`([a-z]+(?:-[a-z]+)*)`", page)) - {"one"}
    room = "".join(path.read_text() for path in ROOM)
    assert all(f'"{reason}"' in room for reason in named)
    given = {read(name).get("reason") for name in EVERY} - {None}
    large = {"too-long", "too-many-pieces"}  # files of megabytes are no vectors
    assert given == named - large
    assert len(given) >= 40


def raised():
    """The first argument of every refusal in the room, by the kind of call that makes it."""
    makers = {
        "make_refusal": 0,
        "_refusal": 0,
        "_prefix_error": 0,
        "_limit_error": 0,
        "RefusedError": 0,
    }
    ranged = {"whole": 3, "number": 3, "chosen": 2}
    for path in ROOM:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func).split(".")[-1]
                place = makers.get(called, ranged.get(called))
                reason = None if place is None else node.args[place : place + 1]
                if reason and isinstance(reason[0], ast.Constant):
                    yield reason[0].value


def test_the_room_gives_no_reason_that_is_not_on_the_page():
    page = SPEC[SPEC.index("## 9. Reasons") : SPEC.index("## 10.")]
    found = set(raised())
    assert len(found) > 80
    assert {reason for reason in found if f"`{reason}`" not in page} == set()


def test_the_index_names_every_vector():
    patterns = re.findall(r"`([a-z*-]+)`", (ROOT / "vectors/README.md").read_text())
    assert [name for name in EVERY if not any(fnmatch(name, one) for one in patterns)] == []
    assert [one for one in patterns if not any(fnmatch(name, one) for name in EVERY)] == []

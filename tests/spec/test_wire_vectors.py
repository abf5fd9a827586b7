"""Vectors of part two: the package and a stranger's program agree with every one."""

import ast
import json
import random
import shutil
import sys
from pathlib import Path

import pytest

from spec import stranger_lists, stranger_notes, stranger_seal, stranger_wire

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "scripts"


@pytest.fixture(scope="module")
def scripts():
    """The programs that write vectors, which lie beside each other."""
    sys.path.insert(0, str(SCRIPTS))
    import wire_room
    import wire_vectors

    yield wire_room, wire_vectors
    sys.path.remove(str(SCRIPTS))


EVERY = {path.stem: json.loads(path.read_text()) for path in (ROOT / "vectors").glob("*.json")}
KINDS = (
    *("note", "signed note", "joined notes", "key configuration", "sheet", "shapes", "bundles"),
    *("envelope", "first hop", "manifest", "receipt", "withdrawal", "rotation", "rotations"),
    *("round", "arrivals", "listed", "code", "codes"),
)
FILES = {
    name: vector
    for name, vector in sorted(EVERY.items())
    if vector["what"].removeprefix("refused ") in KINDS
}
RESULTS = {
    "note": "signers",
    "signed note": "verifier note",
    "joined notes": "note",
    "key configuration": "configuration",
    "sheet": "hash",
    "shapes": "shapes",
    "bundles": "envelopes",
    "first hop": "bundles left_out received copies passed",
    "envelope": "opened",
    "manifest": "sent hash",
    "receipt": "of hash",
    "withdrawal": "of hash",
    "rotation": "role old new hash",
    "rotations": "keys",
    "round": "sent",
    "arrivals": "list",
    "listed": "found",
    "code": "code hash",
    "codes": "hashes",
}


def wanted(vector):
    names = "reason" if vector["what"].startswith("refused") else RESULTS[vector["what"]]
    return {name: vector[name] for name in names.split()}


def test_there_are_vectors_of_every_kind():
    assert {vector["what"].removeprefix("refused ") for vector in FILES.values()} == set(KINDS)
    assert len(FILES) >= 130


@pytest.mark.parametrize("name", FILES)
def test_a_program_written_from_the_page_agrees(name):
    assert stranger_wire.found(FILES[name]) == wanted(FILES[name])


@pytest.mark.parametrize("name", FILES)
def test_the_package_agrees(name, scripts):
    assert scripts[0].open_vector(FILES[name]) == wanted(FILES[name])


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("note-published", "keys", []),
        ("sheet-suite-1", "hash", "00" * 32),
        ("bundles-three", "body", "000100020000000000"),
        ("first-hop-padding", "left_out", 1),
        ("envelope-suite-1-good", "part", 1),
        ("envelope-suite-2-good", "part", 1),
        ("round-suite-1", "receipts", ["{}\n"]),
        ("arrivals-bundles", "part", 1),
        ("listed", "found", []),
        ("refused-round-other-sheet", "reason", "other-hop"),
    ],
)
def test_a_vector_that_is_wrong_is_noticed(name, field, value, scripts):
    vector = FILES[name] | {field: value}
    assert stranger_wire.found(vector) != wanted(vector)
    assert scripts[0].open_vector(vector) != wanted(vector)


def test_kept_envelopes_are_never_sealed_again(scripts, tmp_path, monkeypatch):
    _, wire_vectors = scripts
    name = "envelope-suite-1-good"
    monkeypatch.setattr(wire_vectors, "TARGET", tmp_path)
    sealed = wire_vectors.envelope_vectors()
    assert sealed[name]["envelope"] != FILES[name]["envelope"]  # there was no file
    shutil.copy(ROOT / "vectors" / f"{name}.json", tmp_path)
    kept = wire_vectors.envelope_vectors()[name]
    assert kept["envelope"] == FILES[name]["envelope"]
    broken = FILES[name] | {"envelope": FILES["envelope-suite-1-cut"]["envelope"]}
    (tmp_path / f"{name}.json").write_text(json.dumps(broken))
    with pytest.raises(SystemExit, match="remove the file"):
        wire_vectors.envelope_vectors()


def test_kept_bodies_are_never_sealed_again(scripts, tmp_path, monkeypatch):
    _, wire_vectors = scripts
    name = "first-hop-too-much-padding"
    monkeypatch.setattr(wire_vectors, "TARGET", tmp_path)
    assert wire_vectors.first_hop_vectors()[name]["body"] != FILES[name]["body"]
    shutil.copy(ROOT / "vectors" / f"{name}.json", tmp_path)
    assert wire_vectors.first_hop_vectors()[name]["body"] == FILES[name]["body"]
    broken = FILES[name] | {"body": FILES["first-hop-padding"]["body"]}
    (tmp_path / f"{name}.json").write_text(json.dumps(broken))
    with pytest.raises(SystemExit, match="remove the file"):
        wire_vectors.first_hop_vectors()


def bent(chance, vector):
    """The vector with a character of its notes, or an item of a list, changed."""
    vector = json.loads(json.dumps(vector))
    fields = ("note", "sheet", "manifest", "receipt", "withdrawal", "manifests", "receipts", "body")
    fields += ("envelope", "rotation", "rotations")
    fields = ("body",) if vector["what"] == "first hop" else fields
    name = chance.choice([one for one in fields if vector.get(one)])
    holder, place = vector, name
    if isinstance(vector[name], list):
        holder, place = vector[name], chance.randrange(len(vector[name]))
    text = holder[place]
    digits = "0123456789abcdef" if name in ("body", "envelope") else ' 0123456789\n\t"=+AaZ[]{},-'
    at, kind = chance.randrange(len(text)), chance.randrange(3)
    more = chance.choice(digits)
    if kind == 0:
        holder[place] = text[:at] + more + text[at + 1 :]
    elif name in ("body", "envelope"):
        holder[place] = text[: len(text) // 4 * 2]
    elif kind == 1:
        holder[place] = text[:at] + more + text[at:]
    else:
        holder[place] = text[:at] + text[at + chance.randint(1, 3) :]
    return vector


BENDABLE = (
    *("note", "sheet", "bundles", "envelope", "first hop", "manifest", "receipt", "withdrawal"),
    *("rotation", "rotations", "round"),
)


@pytest.mark.parametrize("kind", BENDABLE)
def test_both_refuse_the_same_far_beyond_the_vectors(kind, scripts):
    chance = random.Random(kind)
    some = [one for name, one in FILES.items() if one["what"] == kind and "suite-2" not in name]
    refused = 0
    for _ in range(60):
        vector = bent(chance, chance.choice(some))
        ours, theirs = scripts[0].open_vector(vector), stranger_wire.found(vector)
        refused += "reason" in ours
        assert ("reason" in ours) == ("reason" in theirs), (ours, theirs, vector)
        assert "reason" in ours or ours == theirs
    assert refused >= 10 or kind in ("envelope", "first hop")


def imports(module):
    for node in ast.walk(ast.parse(Path(module.__file__).read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name.split(".")[0] for name in node.names)
        if isinstance(node, ast.ImportFrom):
            yield node.module.split(".")[0]


def test_the_stranger_shares_no_line_with_the_package():
    for module in (stranger_lists, stranger_notes, stranger_wire):
        assert set(imports(module)) - {"spec"} <= set(sys.stdlib_module_names)
    assert set(imports(stranger_seal)) - set(sys.stdlib_module_names) == {
        *("spec", "pyhpke", "cryptography")
    }


@pytest.mark.parametrize(
    ("seed", "public", "text", "signature"),
    [  # RFC 8032, section 7.1, tests 1 and 2
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701c"
            "f9b46bd25bf5f0595bbe24655141438e7a100b",
        ),
        (
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            "72",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0"
            "f11d8c387b2eaeb4302aeeb00d291612bb0c00",
        ),
    ],
)
def test_the_strangers_signatures_are_those_of_the_standard(seed, public, text, signature):
    seed, public, text, signature = map(bytes.fromhex, (seed, public, text, signature))
    assert stranger_notes.public_of(seed) == public
    assert stranger_notes.sign(seed, text) == signature
    assert stranger_notes.true(public, text, signature)
    assert not stranger_notes.true(public, text + b"x", signature)

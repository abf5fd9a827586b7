"""The test vectors of part two of SPEC.md: notes, keys, sheets, bundles, envelopes and rounds.

Envelopes are sealed with randomness of the cryptographic library, so no run can make the same ones
again. They were made once and are kept. This program reads each envelope from its file and checks
that it still opens as expected. It seals an envelope anew only if there is no file.
"""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from wire_room import Found, open_vector
from wire_scenes import (
    OPEN,
    OPENS,
    SCENES,
    build_codes_scene,
    build_padded_scene,
    rotating_signers,
    round_of,
    secret,
    write_manifests,
    write_rotation_note,
)

from helpers import contracts as c
from mixtally.device.contract.fields import fingerprint_of, text_of
from mixtally.device.wire.bundle import write_bundle
from mixtally.device.wire.codes import make_code
from mixtally.device.wire.envelope import Sealer
from mixtally.device.wire.manifest import (
    EXPIRED,
    LOST,
    TOO_FEW,
    PartManifest,
    Receipt,
    end_of,
    write_receipt,
)
from mixtally.device.wire.note import Signer, parse_signer, sign_note
from mixtally.device.wire.rotation import write_rotations
from mixtally.device.wire.sheet import sheet_hash, write_sheet, write_withdrawal
from mixtally.device.wire.suite import SUITES
from mixtally.model.contract import read_contract, write_contract
from mixtally.model.contract.job import job_of
from mixtally.model.question import Kind, Question
from mixtally.server.mix.closing.close import bundle_shapes

PETER = parse_signer(
    "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz"
)
PUBLISHED = (
    b"If you think cryptography is the answer to your problem,\n"
    b"then you don't know what your problem is.\n"
)
"""The example of golang.org/x/mod/sumdb/note."""
TARGET = Path(__file__).parents[1] / "vectors"


def note_vectors() -> dict[str, Found]:
    """Return vectors of notes that are read, and of notes that are made."""
    one, two, _ = SCENES[1].signers
    text = b'{"question": "Z\xc3\xbcrich?"}\n'
    twin, other = Signer(one.name, secret("twin", 32)), Signer("stranger", secret("stranger", 32))
    keys = [one.verifier, two.verifier]
    notes = {
        "of-nobody": text,
        "of-one": sign_note(text, one),
        "of-both": sign_note(text, two, one),
        "with-lines-of-strangers": sign_note(text, other, one, twin),
        "of-another-key-of-this-name": sign_note(text, twin),
        "line-twice": sign_note(text, one) + one.signature_line(text),
        "empty-line-at-the-end-of-the-text": sign_note(b"a\n\n", one),
        "of-a-newline": sign_note(b"\n", one),
    }
    made = {
        f"note-{name}": {"what": "note", "note": note.decode(), "keys": keys}
        for name, note in notes.items()
    }
    made |= {
        f"signed-note-{signer.name.lower()}": {
            "what": "signed note", "key": signer.private_key_text, "text": text.decode()
        }
        for signer, text in ((one, text), (two, b"\n"), (PETER, PUBLISHED))
    }  # fmt: skip
    made["note-published"] = {
        "what": "note", "note": sign_note(PUBLISHED, PETER).decode(), "keys": [PETER.verifier]
    }  # fmt: skip
    notes_of = [sign_note(text, other, two).decode(), sign_note(text, one, two).decode()]
    return made | {
        "joined-notes": {
            "what": "joined notes", "text": text.decode(), "notes": notes_of, "keys": keys
        }
    }  # fmt: skip


def key_vectors() -> dict[str, Found]:
    """Return vectors of key configurations of every suite.

    The first secret is the example of RFC 9458.
    """
    example = "3c168975674b2fa8e465970b79c8dcf09f1c741626480bd4c6162fc5b6a98e1a"
    secrets = {"example": (1, example)}
    secrets |= {f"suite-{suite}": (suite, one.secrets[0].hex()) for suite, one in SCENES.items()}
    return {
        f"key-configuration-{name}": {"what": "key configuration", "suite": suite, "secret": given}
        for name, (suite, given) in secrets.items()
    }


def _set_in_clear() -> bytes:
    """Return a contract whose records are several messages in clear."""
    asked = Question(name="where", bins=12, kind=Kind.SET, max_set=3)
    plan = c.plan_of(asked, [c.uniform(12, most_set=3, coin=1 << 63)])
    return write_contract(c.contract_of(plan))


def _with_page() -> bytes:
    """Return a contract that needs codes, with the most files that a page can have."""
    longest = "a/" * 99 + "aa"
    paths = sorted([longest, "index.html", "~b@1.0+c/_d-e.js", *(f"{n}.js" for n in range(125))])
    files = tuple(c.ClientFile(path=path, sha256=secret(path, 32).hex()) for path in paths)
    plan = c.plan_of(Question(name="where", bins=5), [c.shaped(5)])
    return write_contract(c.contract_of(plan, admission="codes", client_files=files))


def sheet_vectors() -> dict[str, Found]:
    """Return vectors of sheets that match their contracts, and of the shapes of bundles."""
    made: dict[str, Found] = {}
    first, second = SCENES[1], SCENES[2]
    sheets = {
        "suite-1": (first, first.note()),
        "suite-2": (second, second.note()),
        "last-round": (second, second.note(write_sheet(second.sheet(round=7)))),
        "latest-expiry": (
            first, first.note(write_sheet(first.sheet(expires=OPENS + OPEN + 10**7)))
        ),
    }  # fmt: skip
    for name, (one, note) in sheets.items():
        contract = one.contract.decode()
        made[f"sheet-{name}"] = {"what": "sheet", "contract": contract, "sheet": note.decode()}
    for suite, one in SCENES.items():
        made[f"shapes-suite-{suite}"] = {"what": "shapes", "contract": one.contract.decode()}
    made["shapes-codes-and-files"] = {"what": "shapes", "contract": _with_page().decode()}
    made["shapes-set-in-clear"] = {"what": "shapes", "contract": _set_in_clear().decode()}
    return made


def bundle_vectors() -> dict[str, Found]:
    """Return vectors of bodies of whole bundles."""
    shapes = [[2, 1, 3], [3, 0, 1]]
    bodies = {"one": secret("one", 9), "three": secret("three", 27)}
    return {
        f"bundles-{name}": {"what": "bundles", "shapes": shapes, "body": body.hex()}
        for name, body in bodies.items()
    }


class TakenBody(NamedTuple):
    """A body that a first hop accepted, with its counted and its left out bundles."""

    body: bytes
    bundles: int
    left_out: int


def first_hop_bodies() -> dict[str, TakenBody]:
    """Return new bodies with padding in allowed and in forbidden places."""
    scene = build_padded_scene()
    sealer = Sealer(SUITES[scene.suite], scene.sheet().keys, scene.hash)
    size = json.loads(scene.contract)["envelope_bytes"][0]

    def seal(part: int, value: int = 0) -> bytes:
        return sealer.seal(bytes([value]), part)

    def padding(part: int = 0) -> bytes:
        return sealer.padding(1, part)

    def bundle(*first: bytes) -> list[list[bytes]]:
        return [[*first], [seal(1), seal(1, 3)]]

    def outer(inside: bytes) -> bytes:
        return Sealer(SUITES[scene.suite], scene.sheet().keys[:1], scene.hash).seal(inside, 0)

    one, two = bundle(seal(0, 1), padding()), bundle(seal(0, 2), seal(0))
    good, ((own, pad), _) = [one, two, one], one
    extra: dict[str, tuple[list[list[list[bytes]]], int, int]] = {
        "padding": ([], 2, 0),
        "copies-of-padding": (
            [bundle(seal(0), pad), bundle(pad, pad), bundle(own, pad)], 4, 1
        ),
        "too-much-padding": (
            [bundle(padding(), padding()), [two[0], [seal(1), padding(1)]],
             [one[0], [padding(1), padding(1)]]], 2, 3
        ),
        "padding-that-is-none": (
            [bundle(seal(0), bytes(size[0])), bundle(seal(0), padding(1)),
             bundle(seal(0), outer(bytes(size[1] - 1) + b"\1"))], 3, 2
        ),
        "padding-in-the-first-slot": ([bundle(padding(), seal(0, 2))], 3, 0),
    }  # fmt: skip
    return {
        name: TakenBody(b"".join(map(write_bundle, [*good, *more])), bundles, left_out)
        for name, (more, bundles, left_out) in extra.items()
    }


def first_hop_vectors() -> dict[str, Found]:
    """Return vectors with the bodies of their files; a body without a file is sealed."""
    scene, made = build_padded_scene(), {}
    for name, taken in first_hop_bodies().items():
        path = TARGET / f"first-hop-{name}.json"
        held = json.loads(path.read_text())["body"] if path.exists() else taken.body.hex()
        made[path.stem] = vector = {
            "what": "first hop", "contract": scene.contract.decode(),
            "sheet": write_sheet(scene.sheet()).decode(), "secret": scene.secrets[0].hex(),
            "body": held,
        }  # fmt: skip
        result = open_vector(vector)
        if (result["bundles"], result["left_out"]) != taken[1:]:
            raise _opens_otherwise(path)
    return made


def _opens_otherwise(path: Path) -> SystemExit:
    return SystemExit(
        f"{path}: the stored envelope does not open as expected; if its scenario was changed, "
        "remove the file to seal a new one"
    )


class SealedEnvelope(NamedTuple):
    """An envelope: how it is sealed, and how many of its layers open."""

    suite: int
    part: int
    make: Callable[[], bytes]
    layers: int
    first: int = 1


def sealed_scenarios() -> dict[str, SealedEnvelope]:
    """Return envelopes that open, and envelopes that fail at the first or at an inner layer."""
    made = {}
    for suite, one in SCENES.items():
        keys, sheet = one.sheet().keys, one.hash
        other = sheet_hash(write_sheet(one.sheet(round=2)))
        library = SUITES[suite]

        def seal(
            keys: Any = keys, sheet: bytes = sheet, first: int = 1, part: int = 0,
            message: bytes = b"vote", library: Any = library,
        ) -> bytes:  # fmt: skip
            return Sealer(library, keys, sheet, first=first).seal(message, part)

        def alter_envelope(seal: Any = seal, keys: Any = keys) -> bytes:
            inner = bytearray(seal(keys[1:], first=2))
            inner[-1] ^= 1
            return seal(keys[:1], message=bytes(inner))

        several = {
            "good": SealedEnvelope(suite, 0, seal, 3),
            "empty-message-of-the-last-part": SealedEnvelope(
                suite, 65535, lambda seal=seal: seal(part=65535, message=b""), 3
            ),
            "fake-of-the-first-hop": SealedEnvelope(
                suite, 1, lambda seal=seal, keys=keys: seal(keys[1:], first=2, part=1), 2, 2
            ),
            "of-another-round": SealedEnvelope(
                suite, 0, lambda seal=seal, s=other: seal(sheet=s), 0
            ),
            "of-another-part": SealedEnvelope(suite, 0, lambda seal=seal: seal(part=1), 0),
            "of-another-hop": SealedEnvelope(suite, 0, lambda seal=seal: seal(first=2), 0),
            "inner-layer-altered": SealedEnvelope(suite, 0, alter_envelope, 1),
            "cut": SealedEnvelope(suite, 0, lambda seal=seal: seal()[:-1], 0),
        }
        made |= {f"envelope-suite-{suite}-{name}": one for name, one in several.items()}
    return made


def envelope_vectors() -> dict[str, Found]:
    """Return vectors with the envelopes of their files; an envelope without a file is sealed."""
    made = {}
    for name, (suite, part, make, layers, first) in sealed_scenarios().items():
        path, one = TARGET / f"{name}.json", SCENES[suite]
        held = json.loads(path.read_text())["envelope"] if path.exists() else make().hex()
        secrets = [given.hex() for given in one.secrets[first - 1 :]]
        vector = {
            "what": "envelope", "suite": suite, "sheet": write_sheet(one.sheet()).decode(),
            "part": part, "first": first, "secrets": secrets, "envelope": held,
        }  # fmt: skip
        opened = open_vector(vector)["opened"]
        if layers != sum(layer is not None for layer in opened):
            raise _opens_otherwise(path)
        made[name] = vector
    return made


def round_vectors() -> dict[str, Found]:
    """Return vectors of manifests, receipts and rounds."""
    first = SCENES[1]
    texts, pieces = write_manifests(first, {}, {"overruled": ("mix-1",)})
    nothing = (PartManifest(received=0),)
    few = {"destroyed": TOO_FEW, "bundles": 4, "parts": nothing}
    late = {"destroyed": EXPIRED, "parts": nothing}
    unknown = {"before": None, "bundles": 0, "left_out": 0}
    rounds = {
        "suite-1": round_of(first, texts, pieces),
        "suite-2": round_of(SCENES[2], *write_manifests(SCENES[2], {}, {})),
        "not-at-its-end": round_of(first, texts[:1], pieces, receipts=[]),
        "of-too-few": round_of(first, write_manifests(first, few, few)[0], {}),
        "expired": round_of(first, write_manifests(first, {}, late)[0], pieces),
        "expired-without-a-batch": round_of(
            first, write_manifests(first, {}, late | unknown)[0], pieces, receipts=[]
        ),
        "lost": round_of(
            first,
            write_manifests(first, {}, late | unknown | {"destroyed": LOST})[0],
            pieces,
            receipts=[],
        ),
        "ended": round_of(
            first,
            write_manifests(first, {}, late | {"destroyed": end_of("a key was copied")})[0],
            pieces,
        ),
    }
    made = {f"round-{name}": vector for name, vector in rounds.items()}
    made["manifest"] = {"what": "manifest", "manifest": texts[1].decode()}
    receipt = write_receipt(Receipt(fingerprint_of(texts[1]), 3))
    made["receipt"] = {"what": "receipt", "receipt": receipt.decode()}
    withdrawal = write_withdrawal(first.hash.hex()).decode()
    made["withdrawal"] = {"what": "withdrawal", "withdrawal": withdrawal}
    return made


def arrival_vectors() -> dict[str, Found]:
    """Return vectors of tags and lists, and of a search in a list of two files."""
    one = SCENES[1]
    sheet = write_sheet(one.sheet()).decode()
    items = [secret(f"arrival {number}", 60) for number in range(5)]
    made: dict[str, Found] = {
        f"arrivals-{name}": {
            "what": "arrivals", "sheet": sheet, "hop": hop, "part": part,
            "received": [item.hex() for item in some],
        }
        for name, hop, part, some in (
            ("bundles", 1, 0, items),
            ("with-a-copy", 2, 1, [*items, items[2]]),
            ("of-the-last-part", 6, 65535, items[:2]),
            ("none", 3, 0, []),
        )
    }  # fmt: skip
    data = bytes.fromhex(open_vector(made["arrivals-with-a-copy"])["list"])
    files = [data[:24], data[24:]]
    named = [{"sha256": hashlib.sha256(one).hexdigest(), "tags": len(one) // 8} for one in files]
    tags = [data[at : at + 8].hex() for at in (0, 16, 24, 40)]
    made["listed"] = {
        "what": "listed", "files": named, "tags": [*tags, "00" * 8, "ff" * 8],
        "pieces": {one["sha256"]: data.hex() for one, data in zip(named, files, strict=True)},
    }  # fmt: skip
    return made


def rotation_vectors() -> dict[str, Found]:
    """Return vectors of a key that is replaced twice, and of lists of such notes."""
    first, second, third = rotating_signers()
    notes = [write_rotation_note(first, second), write_rotation_note(second, third)]
    text = text_of(notes[0])
    other = Signer(first.name, secret("twin", 32))
    made = {
        name: {"what": "rotation", "rotation": note.decode()}
        for name, note in (
            ("rotation", notes[0]),
            ("rotation-with-lines-of-others", sign_note(text, other, second, first, first)),
        )
    }
    lists = {
        "two": (first, notes[::-1]),
        "from-the-second-key": (second, [*notes, notes[0]]),
        "of-another-key": (other, notes),
        "none": (first, []),
        "circle": (first, [notes[0], write_rotation_note(second, first)]),
    }
    return made | {
        f"rotations-{name}": {
            "what": "rotations", "rotations": write_rotations(some).decode(), "role": "mix-1",
            "key": start.verifier,
        }
        for name, (start, some) in lists.items()
    }  # fmt: skip


def code_vectors() -> dict[str, Found]:
    """Return vectors of codes as people type them, and of lists of hashes of codes."""
    code = make_code(secret("code", 16))
    typed = {
        "as-it-is": code,
        "in-groups": "-".join(code[i : i + 4] for i in range(0, 28, 4)),
        "small-with-spaces": f" {code[:9]} {code[9:]}\n".lower(),
        "of-zeros": make_code(bytes(16)).replace("0", "O"),
        "of-ones": make_code(bytes.fromhex("08421084210842108421084210842108")).replace("1", "l"),
    }
    one = build_codes_scene()
    lists = {
        "of-one": one.codes("code"), "of-three": one.codes("code", "second", "third"),
        "with-lines-of-others": sign_note(one.codes("code"), *one.signers[:2]),
    }  # fmt: skip
    contract = one.contract.decode()
    return {
        f"code-{name}": {"what": "code", "admission": "codes", "typed": text}
        for name, text in typed.items()
    } | {
        f"codes-{name}": {"what": "codes", "contract": contract, "codes": note.decode()}
        for name, note in lists.items()
    }


def good() -> dict[str, Found]:
    """Return the vectors by name, with the results of the package, which refuses none of them."""
    given = {
        **note_vectors(), **key_vectors(), **sheet_vectors(), **bundle_vectors(),
        **envelope_vectors(), **first_hop_vectors(), **round_vectors(), **rotation_vectors(),
        **arrival_vectors(),
        **code_vectors(),
    }  # fmt: skip
    made = {}
    for name, vector in given.items():
        result = open_vector(vector)
        if "reason" in result:
            raise SystemExit(f"{name}: the package refuses it, {result['reason']}")
        made[name] = vector | result
    for suite, one in SCENES.items():  # A mix derives the shapes of bundles from its job.
        contract = read_contract(one.contract, "scene")
        taken = [[*one] for one in bundle_shapes(job_of(contract, "", 1))]
        if taken != made[f"shapes-suite-{suite}"]["shapes"]:
            raise SystemExit(f"suite {suite}: a mix expects bundles of another shape")
    return made

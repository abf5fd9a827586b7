"""The negative test vectors of part two of SPEC.md: refused notes, sheets, bodies and rounds.

``make_vectors.py`` writes them.
"""

import hashlib
import json
from base64 import b64encode
from collections import Counter
from typing import Any

from bad_vectors import GONE, alter_contract
from wire_room import Found, open_vector
from wire_scenes import (
    OPEN,
    OPENS,
    SCENES,
    build_codes_scene,
    rotating_signers,
    round_of,
    secret,
    write_manifests,
    write_rotation_note,
)

from helpers.listed import invented
from mixtally.device.client.net.trust import frame_of
from mixtally.device.contract.contract import parse_contract
from mixtally.device.contract.fields import fingerprint_of, text_of
from mixtally.device.contract.roles import format_verifier_key, key_hash
from mixtally.device.wire.arrivals import ArrivalLists
from mixtally.device.wire.codes import make_code
from mixtally.device.wire.manifest import PartManifest, Piece, Receipt, write_receipt
from mixtally.device.wire.note import Signer, sign_note
from mixtally.device.wire.rotation import write_rotations
from mixtally.device.wire.sheet import write_sheet, write_withdrawal

FIRST, SECOND = SCENES[1], SCENES[2]
ONE, TWO, _ = FIRST.signers
TEXT = b'{"a": 1}\n'
LINE = ONE.signature_line(TEXT)
HASH, KEY = "ab" * 32, FIRST.sheet().keys[0]
EASY = bytes([1]) + bytes(31)
ANYBODY = b"\xe2\x80\x94 easy " + b64encode(key_hash("easy", EASY) + EASY + bytes(32)) + b"\n"
"""A line with a key of small order, whose signature is valid for every text."""
NOTES: list[tuple[str, bytes]] = [
    ("signature-missing", TEXT),
    ("signature-missing", sign_note(TEXT, TWO)),
    ("signature-missing", sign_note(TEXT, Signer(ONE.name, secret("twin", 32)))),
    ("signature-false", b'{"a": 2}\n\n' + LINE),
    ("signature-false", TEXT + b"\n" + LINE + LINE.replace(b"=", b"A")),
    ("signature-false", TEXT + b"\n" + ANYBODY),
    ("no-note", TEXT[:-1]),
    ("no-note", b""),
    ("no-note", b'{"a":\t1}\n'),
    ("no-note", b'{"a": 1}\r\n'),
    ("no-note", b'{"a": "\xff"}\n'),
    ("no-note", TEXT + b"\n" + LINE[:-1]),
    ("no-note", TEXT + b"\n" + LINE + b"\n"),
    ("no-note", TEXT + b"\n" + LINE + b"\n" + LINE),
    ("no-note", TEXT + b"\n" + LINE + LINE.replace(b"\xe2\x80\x94", b"-")),
    ("no-note", TEXT + b"\n" + LINE + "\u2014 mix-1 AAAAA===\n".encode()),
    ("no-note", TEXT + b"\n" + LINE + "\u2014 mix-1 AAAAAB==\n".encode()),
    ("no-note", TEXT + b"\n" + LINE + "\u2014 mix-1 AAAAAA==\r\n".encode()),
    ("no-note", TEXT + b"\n" + LINE + "\u2014 mix-1 AAAA\n".encode()),
    ("no-note", TEXT + b"\n" + LINE + "\u2014  AAAAAA==\n".encode()),
    ("no-note", TEXT + b"\n" + LINE + "\u2014 m\u00efx AAAAAA==\n".encode()),
    ("no-note", TEXT + b"\n" + LINE * 101),
]
SHEETS: list[tuple[str, dict[str, Any]]] = [
    ("field-missing", {"closing": GONE}),
    ("field-unknown", {"name": "poll"}),
    ("unknown-version", {"version": 2}),
    ("another-kind", {"kind": "manifest"}),
    ("digest-malformed", {"contract": HASH.upper()}),
    ("other-contract", {"contract": HASH}),
    ("round-out-of-range", {"round": 0}),
    ("round-out-of-range", {"round": 2}),
    ("times-out-of-range", {"opens": OPENS + 1}),
    ("times-out-of-range", {"closes": OPENS}),
    ("times-out-of-range", {"expires": OPENS + OPEN}),
    ("times-out-of-range", {"expires": OPENS + OPEN + 10**7 + 1}),
    ("integer-as-string", {"round": "1"}),
    ("keys-miscounted", {"keys.2": GONE}),
    ("keys-miscounted", {"keys": []}),
    ("key-configuration", {"keys.0": "AB=="}),
    ("key-configuration", {"keys.1": b64encode(b"\1" + KEY[1:]).decode()}),
    ("key-configuration", {"keys.1": b64encode(KEY[:-1] + b"\3").decode()}),
    ("key-configuration", {"keys.1": b64encode(KEY[:34] + KEY[35:]).decode()}),
    ("key-configuration", {"keys.2": b64encode(KEY[:3] + bytes(32) + KEY[35:]).decode()}),
    ("wrong-type", {"prefixes": [1]}),
    ("wrong-type", {"closing": None}),
]
BODIES = ["", "61", "6162636465666768", "61626364656667686970", "616263646566676869" * 2 + "61"]
MANIFESTS: list[tuple[str, dict[str, Any]]] = [
    ("another-kind", {"kind": "receipt"}),
    ("unknown-version", {"version": 2}),
    ("field-unknown", {"parts.0.sent": 5}),
    ("digest-malformed", {"sheet": HASH[1:]}),
    ("hop-out-of-range", {"hop": 6}),
    ("messages-out-of-range", {"bundles": -1}),
    ("messages-out-of-range", {"left_out": -1}),
    ("field-missing", {"left_out": GONE}),
    ("messages-out-of-range", {"parts.0.pieces.1.messages": 0}),
    ("messages-out-of-range", {"parts.0.received": (1 << 40) + 1}),
    ("unknown-end", {"destroyed": "forgotten"}),
    ("unknown-end", {"destroyed": "ended: "}),
    ("unknown-end", {"destroyed": "ended: zu sp\u00e4t"}),
    ("destroyed-with-pieces", {"destroyed": "expired", "arrivals": []}),
    ("before-unfit", {"before": None}),
    ("before-unfit", {"hop": 1, "arrivals.0.0.tags": 7}),
    ("false-sum", {"parts.0.added": 2}),
    ("false-sum", {"parts.0.malformed": 6, "parts.0.added": 6}),
    ("piece-twice", {"parts.0.pieces.1": {"sha256": HASH, "messages": 1},
                     "parts.0.pieces.0.sha256": HASH}),
    ("role-name-malformed", {"overruled": ["mix 1"]}),
    ("overruled-unfit", {"overruled": ["mix-1", "mix-1"]}),
    ("arrivals-miscounted", {"arrivals.0.0.tags": 4}),
    ("arrivals-miscounted", {"arrivals": []}),
    ("arrivals-miscounted", {"destroyed": "lost", "parts": []}),
    ("messages-out-of-range", {"arrivals.0.0.tags": (1 << 21) + 1}),
    ("field-missing", {"arrivals": GONE}),
]  # fmt: skip
RECEIPTS: list[tuple[str, dict[str, Any]]] = [
    ("another-kind", {"kind": "manifest"}),
    ("digest-malformed", {"manifest": "x"}),
    ("hop-out-of-range", {"hop": 1}),
    ("digest-malformed", {"arrivals": [[{"sha256": HASH[1:], "tags": 1}]]}),
    ("field-missing", {"arrivals": GONE}),
]
WITHDRAWALS: list[tuple[str, dict[str, Any]]] = [
    ("another-kind", {"kind": "sheet"}),
    ("digest-malformed", {"sheet": HASH[1:]}),
    ("field-unknown", {"round": 1}),
]


def note_vectors() -> list[Found]:
    """Return notes that are malformed, or that lack a required signature."""
    made: list[Found] = []
    for reason, data in NOTES:
        try:
            written = {"note": data.decode()}
        except UnicodeDecodeError:
            written = {"note_hex": data.hex()}
        keys = [format_verifier_key("easy", EASY) if b" easy " in data else ONE.verifier]
        made.append({"what": "refused note", **written, "keys": keys, "reason": reason})
    notes = [sign_note(text, ONE).decode() for text in (TEXT, b"{}\n")]
    joined = {"text": TEXT.decode(), "notes": notes, "keys": [ONE.verifier]}
    return [*made, {"what": "refused joined notes", **joined, "reason": "another-text"}]


def form_vectors() -> list[Found]:
    """Return refused sheets that all roles signed, and refused manifests, receipts and bodies."""
    made: list[Found] = []
    plain, contract = json.loads(write_sheet(FIRST.sheet())), FIRST.contract.decode()
    several = [(reason, FIRST.note(alter_contract(plain, changes))) for reason, changes in SHEETS]
    keys = FIRST.sheet().keys
    several += [
        ("key-twice", FIRST.note(write_sheet(FIRST.sheet(keys=(*keys[:-1], keys[0]))))),
        ("signature-missing", sign_note(write_sheet(FIRST.sheet()), *FIRST.signers[:2])),
        ("another-kind", FIRST.note(write_manifests(FIRST, {})[0][0])),
        ("key-configuration", FIRST.note(write_sheet(FIRST.sheet(keys=SECOND.sheet().keys)))),
        ("not-json", FIRST.note(b"{\n")),
    ]
    for reason, note in several:
        made.append({"what": "refused sheet", "contract": contract, "sheet": note.decode(),
                     "reason": reason})  # fmt: skip
    texts, _ = write_manifests(FIRST, {}, {})
    receipt = write_receipt(Receipt(fingerprint_of(texts[1]), 3))
    for kind, text, rows in (
        ("manifest", texts[1], MANIFESTS),
        ("receipt", receipt, RECEIPTS),
        ("withdrawal", write_withdrawal(HASH), WITHDRAWALS),
    ):
        for reason, changes in rows:
            data = alter_contract(json.loads(text), changes).decode()
            made.append({"what": f"refused {kind}", kind: data, "reason": reason})
    shapes = [[2, 1, 3], [3, 0, 1]]
    return made + [
        {"what": "refused bundles", "shapes": shapes, "body": body, "reason": "body-length"}
        for body in BODIES
    ]


def rotation_vectors() -> list[Found]:
    """Return rotations without a valid signature of both keys, and lists that are refused."""
    old, new, newer = rotating_signers()
    good = write_rotation_note(old, new)
    text, plain = text_of(good), json.loads(text_of(good))
    twin = Signer(old.name, secret("twin", 32))
    notes = [
        ("signature-missing", text),
        ("signature-missing", sign_note(text, old)),
        ("signature-missing", sign_note(text, new)),
        ("signature-missing", sign_note(text, old, twin)),
        ("signature-false", text + good[len(text) :].replace(b"=", b"A")),
    ]
    notes += [
        (reason, sign_note(alter_contract(plain, changes), old, new))
        for reason, changes in (
            ("another-kind", {"kind": "withdrawal"}),
            ("field-missing", {"old": GONE}),
            ("field-unknown", {"round": 1}),
            ("role-name-malformed", {"role": "mix 1"}),
            ("key-malformed", {"new": format_verifier_key("mix-2", new.public)}),
            ("key-malformed", {"role": "mix-2"}),
            ("key-twice", {"new": old.verifier}),
        )
    ]
    lists = [
        ("rotated-twice", write_rotations([good, write_rotation_note(old, newer)])),
        ("signature-missing", write_rotations([good, sign_note(text, new)])),
        ("wrong-type", b"[1]"),
        ("not-json", b""),
    ]
    follow = {"role": old.name, "key": old.verifier}
    return [
        *({"what": "refused rotation", "rotation": note.decode(), "reason": why}
          for why, note in notes),
        *({"what": "refused rotations", "rotations": one.decode(), **follow, "reason": why}
          for why, one in lists),
    ]  # fmt: skip


def listed_vectors() -> list[Found]:
    """Return lists that are not ascending, or not as they are named."""
    rows = [bytes([number]) * 8 for number in (1, 2, 2, 3)]
    data = b"".join(rows)
    name = hashlib.sha256(data).hexdigest()
    cases: list[tuple[str, list[bytes], dict[str, Any]]] = [
        ("tags-unsorted", [rows[1] + rows[0]], {}),
        ("tags-unsorted", [rows[0] + rows[3], rows[1]], {}),
        ("tags-unsorted", [b"\xff" * 8 + rows[0]], {}),
        ("piece-length", [data], {"files": [{"sha256": name, "tags": 3}]}),
        ("piece-length", [data + b"x"], {}),
        ("piece-differs", [data], {"pieces": {}}),
        ("piece-differs", [data], {"pieces": {name: data[8:].hex()}}),
    ]
    made: list[Found] = []
    for reason, several, changes in cases:
        names = [hashlib.sha256(one).hexdigest() for one in several]
        files = [
            {"sha256": one, "tags": len(data) // 8}
            for one, data in zip(names, several, strict=True)
        ]
        pieces = {one: data.hex() for one, data in zip(names, several, strict=True)}
        vector = {"what": "refused listed", "files": files, "tags": [rows[0].hex()]}
        made.append(vector | {"pieces": pieces} | changes | {"reason": reason})
    return made


def round_vectors() -> list[Found]:
    """Return rounds whose notes are each valid, but do not belong together."""
    nothing = (PartManifest(received=0),)
    few = {"destroyed": "too-few", "parts": nothing}
    texts, pieces = write_manifests(FIRST, {}, {})
    good, other = round_of(FIRST, texts, pieces), write_receipt(Receipt(HASH, 2))
    swapped = sign_note(write_receipt(Receipt(fingerprint_of(texts[0]), 3)), TWO)
    (name, *_), one_off = pieces, dict(pieces)
    full = sign_note(write_manifests(FIRST, {}, {"parts": (_full_part(2),)})[0][1], TWO).decode()
    one_off[name] = "00" + pieces[name][2:]
    cases: list[tuple[str, Found]] = [
        ("signature-missing", good | {"manifests": good["manifests"][::-1]}),
        ("signature-missing", good | {"receipts": good["receipts"][::-1]}),
        ("other-hop", good | {"manifests": good["manifests"] * 2}),
        ("other-hop", good | {"receipts": [sign_note(swapped, TWO).decode()]}),
        ("other-manifest", good | {"receipts": [sign_note(other, TWO).decode()]}),
        ("arrivals-miscounted", good | {"receipts": [good["receipts"][0], _receipt(texts[1])]}),
        ("arrivals-miscounted", good | {"receipts": [_receipt(texts[0], invented([6]))]}),
        (
            "arrivals-miscounted",
            good | {"receipts": [good["receipts"][0], _receipt(texts[1], invented([7]))]},
        ),
        (
            "arrivals-differ",
            good | {"receipts": [good["receipts"][0], _receipt(texts[1], invented([5]))]},
        ),
        ("piece-differs", good | {"pieces": one_off}),
        ("piece-differs", good | {"pieces": {}}),
        ("piece-length", _resize_pieces(texts[0], pieces)),
        ("too-many-messages", good | {"manifests": [good["manifests"][0], full], "receipts": []}),
    ]
    for reason, changes in (
        ("other-sheet", [{"sheet": HASH}]),
        ("other-hop", [{"hop": 2, "before": HASH}]),
        ("parts-miscounted", [{"parts": ()}]),
        ("crowd-too-small", [{"bundles": 4}]),
        ("too-many-bundles", [{"bundles": 4000, "left_out": 1}]),
        ("too-many-messages", [{"parts": (_full_part(1),)}]),
        ("before-unfit", [{}, {"before": HASH}]),
        ("bundles-differ", [{}, {"bundles": 6}]),
        ("bundles-differ", [{}, {"left_out": 1}]),
        ("received-differs", [{}, {"parts": (PartManifest(6, malformed=6),)}]),
        ("not-destroyed", [few, {"parts": nothing}]),
    ):
        cases.append((reason, round_of(FIRST, write_manifests(FIRST, *changes)[0], pieces)))
    return [vector | {"what": "refused round", "reason": reason} for reason, vector in cases]


def _full_part(hop: int) -> PartManifest:
    """Return a part of one message more than the contract of ``FIRST`` can produce."""
    limits = frame_of(parse_contract(FIRST.contract)).most_messages[0]
    piece = Piece(HASH, limits[hop - 1] + 1)
    return PartManifest(5, added=piece.messages - 5, pieces=(piece,))


def _receipt(text: bytes, lists: ArrivalLists | None = None) -> str:
    """Return the signed receipt of a manifest, with lists of the collector or without."""
    hop = json.loads(text)["hop"] + 1
    receipt = write_receipt(Receipt(fingerprint_of(text), hop, lists))
    return sign_note(receipt, FIRST.signers[hop - 1]).decode()


def _resize_pieces(text: bytes, pieces: dict[str, str]) -> Found:
    """Return a round whose manifest has the right pieces with wrong numbers of messages."""
    plain = json.loads(text)
    first, second = plain["parts"][0]["pieces"]
    first["messages"], second["messages"] = second["messages"], first["messages"]
    return round_of(FIRST, [alter_contract(plain, {})], pieces)


def code_vectors() -> list[Found]:
    """Return codes that are none or not asked for, and lists that a first hop refuses."""
    code, scene = make_code(secret("code", 16)), build_codes_scene()
    typed: list[tuple[str, str, str | None]] = [
        ("code-missing", "codes", None),
        ("code-not-asked", "open", code),
        *(
            ("code-malformed", "codes", one)
            for one in (
                "", code[:-1], code + "0", code[::-1], "U" + code[1:], "\u0660" + code[1:],
                code[:-1] + ("0" if code[-1] != "0" else "1"), f"{code} {code}",
            )
        ),
    ]  # fmt: skip
    contract, *_, collector = scene.contract.decode(), *scene.signers
    good = text_of(scene.codes("code", "second"))
    plain = json.loads(good)
    hashes = plain["hashes"]
    lists = [
        ("signature-missing", good),
        ("signature-missing", sign_note(good, scene.signers[0])),
        ("signature-false", scene.codes("code")[:-5] + b"AAA=\n"),
        ("codes-miscounted", scene.codes("code", "second", "third", "fourth")),
    ] + [
        (reason, sign_note(alter_contract(plain, changes), collector))
        for reason, changes in (
            ("unknown-version", {"version": 2}),
            ("another-kind", {"kind": "sheet"}),
            ("field-missing", {"contract": GONE}),
            ("field-unknown", {"round": 1}),
            ("other-contract", {"contract": HASH}),
            ("digest-malformed", {"contract": "ab"}),
            ("wrong-type", {"hashes": {}}),
            ("wrong-type", {"hashes": [1]}),
            ("codes-miscounted", {"hashes": []}),
            ("codes-unsorted", {"hashes": hashes[::-1]}),
            ("codes-unsorted", {"hashes": hashes[:1] * 2}),
            ("digest-malformed", {"hashes": [HASH.upper()]}),
            ("digest-malformed", {"hashes": [HASH[:-1]]}),
        )
    ]
    return [
        *({"what": "refused code", "admission": admission, "typed": one, "reason": why}
          for why, admission, one in typed),
        *({"what": "refused codes", "contract": contract, "codes": note.decode(), "reason": why}
          for why, note in lists),
    ]  # fmt: skip


def bad() -> dict[str, Found]:
    """Return the vectors by name, after checking that the package gives each reason."""
    seen: Counter[str] = Counter()
    named = {}
    for vector in [
        *note_vectors(),
        *form_vectors(),
        *round_vectors(),
        *rotation_vectors(),
        *listed_vectors(),
        *code_vectors(),
    ]:
        name = f"{vector['what'].replace(' ', '-')}-{vector['reason']}"
        seen[name] += 1
        result = open_vector(vector)
        if result != {"reason": vector["reason"]}:
            raise SystemExit(f"{name} {seen[name]}: the package finds {result}")
        named[f"{name}-{seen[name]}" if seen[name] > 1 else name] = vector
    return named

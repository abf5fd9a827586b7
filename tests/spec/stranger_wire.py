"""Part two of SPEC.md: a program written from that page alone; it shares no line with the package.

It reads every vector of part two and says what it finds, as ``stranger`` does for part one.
"""

import hashlib
import re
from itertools import pairwise

from spec import stranger_notes as notes
from spec import stranger_seal as seal
from spec.stranger import most_fakes
from spec.stranger_contract import contract_of, plain_of, text_of
from spec.stranger_forms import (
    fields,
    flag,
    integer,
    maybe,
    message_size,
    need,
    several,
    string,
    told,
    word,
)
from spec.stranger_lists import arrivals, check_lists, check_pieces, code_of, list_of, listed

DIGEST = string("digest-malformed", "[0-9a-f]{64}")
NOTHING = {"received": 0, "copies": 0, "passed": []}
COUNT = integer("messages-out-of-range", 0, 2**40)
TIME = integer("times-out-of-range", 0, 2**53)


def note(kind, **readers):
    """Section 11: JSON of one kind."""
    version = integer("unknown-version", 1, 1)
    form = fields(version=version, kind=word("another-kind", kind), **readers)

    def read(data):
        plain = plain_of(data)
        if isinstance(plain, dict) and "version" in plain:
            version(plain["version"])
        if isinstance(plain, dict) and "kind" in plain:
            word("another-kind", kind)(plain["kind"])
        return form(plain)

    return read


def key_bytes(value):
    raw = notes.decoded(string()(value))
    need(raw, "key-configuration")
    return raw


SHEET = note(
    "sheet",
    contract=DIGEST,
    round=integer("round-out-of-range", 1, 1000),
    opens=TIME,
    closes=TIME,
    expires=TIME,
    keys=several(key_bytes),
    prefixes=maybe(several(several(integer("")))),
    closing=flag,
)


def sheet_of(data):
    read = SHEET(data)
    need(read["opens"] < read["closes"] < read["expires"], "times-out-of-range")
    need(2 <= len(read["keys"]) <= 6, "keys-miscounted")
    return read


def digest(data):
    return hashlib.sha256(text_of(data)).hexdigest()


def fitting(data, contract, served):
    """Sections 12 and 16: a sheet that all roles have signed, and that fits; its SHA-256."""
    sheet = sheet_of(notes.all_signed(data, roles(contract)))
    need(sheet["contract"] == digest(served), "other-contract")
    need(sheet["round"] <= contract["plan"]["collections"], "round-out-of-range")
    opened = contract["rounds"]["open_seconds"]
    need(sheet["closes"] - sheet["opens"] == opened, "times-out-of-range")
    need(sheet["expires"] - sheet["closes"] <= 10**7, "times-out-of-range")
    need(len(sheet["keys"]) == len(contract["hops"]) + 1, "keys-miscounted")
    for key in sheet["keys"]:
        seal.check_key(contract["suite"], key)
    need(len(set(sheet["keys"])) == len(sheet["keys"]), "key-twice")
    return digest(data)


def roles(contract):
    return notes.keys_of([one["key"] for one in (*contract["hops"], contract["collector"])])


def size_of(contract, part, hop):
    """Bytes of an envelope before a hop."""
    left = len(contract["hops"]) + 2 - hop
    return message_size(part["layout"]) + seal.LAYER[contract["suite"]] * left


def shapes_of(contract):
    """Section 15."""
    shapes = []
    for part in contract["plan"]["parts"]:
        own = part["own"] or {"whole": 0, "coin": 0}
        clear = part["slots"] or part["most_set"]
        record = part["repeats"] if part["threshold"] is not None else clear
        coin = own["coin"] > 0
        shapes.append([record + own["whole"] + coin, int(coin), size_of(contract, part, 1)])
    return shapes


def bundles_of(body, shapes):
    """Section 15."""
    taken = []
    need(body, "body-length")
    while body:
        bundle = []
        for slots, _, size in shapes:
            need(len(body) >= slots * size, "body-length")
            bundle.append([body[i * size : (i + 1) * size].hex() for i in range(slots)])
            body = body[slots * size :]
        taken.append(bundle)
    return {"envelopes": taken}


def counts(opened, sizes, shapes):
    """Section 17: whether a bundle counts, by what is inside its envelopes."""
    return all(
        all(inside is not None and len(inside) == size for _, inside in pairs)
        and sum(inside == bytes(size) for _, inside in pairs) <= padding
        for pairs, size, (_, padding, _) in zip(opened, sizes, shapes, strict=True)
    )


def first_hop(vector):
    """Sections 14, 15 and 17: what a hop 1 without fakes makes of a body."""
    contract = contract_of(vector["contract"].encode())
    sheet = hashlib.sha256(text_of(vector["sheet"].encode())).digest()
    shapes, secret = shapes_of(contract), bytes.fromhex(vector["secret"])
    sizes = [size_of(contract, part, 2) for part in contract["plan"]["parts"]]
    crowd, different = contract["plan"]["minimum_crowd"], []
    for bundle in bundles_of(bytes.fromhex(vector["body"]), shapes)["envelopes"]:
        if bundle not in different:
            different.append(bundle)
    nothing = {name: [empty for _ in sizes] for name, empty in NOTHING.items()}
    if len(different) < crowd:
        return {"bundles": len(different), "left_out": 0, **nothing}
    counted = []
    for bundle in different:
        opened = []
        for part, sealed in enumerate(bundle):
            info = seal.info_of(sheet, 1, part)
            pairs = [(one, seal.open_layer(contract["suite"], secret, info, bytes.fromhex(one)))
                     for one in sealed]  # fmt: skip
            opened.append(pairs)
        if counts(opened, sizes, shapes):
            counted.append(opened)
    numbers = {"bundles": len(counted), "left_out": len(different) - len(counted)}
    if len(counted) < crowd:
        return numbers | nothing
    made = {"received": [], "copies": [], "passed": []}
    for part, size in enumerate(sizes):
        every = [pair for bundle in counted for pair in bundle[part] if pair[1] != bytes(size)]
        once = dict(every)
        made["received"].append(len(every))
        made["copies"].append(len(every) - len(once))
        made["passed"].append(sorted(one.hex() for one in once.values()))
    return numbers | made


PART = fields(
    received=COUNT,
    copies=COUNT,
    unopened=COUNT,
    malformed=COUNT,
    added=COUNT,
    pieces=several(
        fields(sha256=DIGEST, messages=integer("messages-out-of-range", 1, 2**24)),
    ),
)
LISTS = several(
    several(fields(sha256=DIGEST, tags=integer("messages-out-of-range", 1, 2**21))),
)
MANIFEST = note(
    "manifest",
    sheet=DIGEST,
    hop=integer("hop-out-of-range", 1, 5),
    bundles=COUNT,
    left_out=COUNT,
    destroyed=maybe(string("unknown-end", "too-few|expired|lost|ended: [ -~]{1,200}")),
    before=maybe(DIGEST),
    parts=several(PART),
    overruled=several(string("role-name-malformed", "[A-Za-z0-9][A-Za-z0-9._/-]{0,99}")),
    arrivals=LISTS,
)
RECEIPT = note(
    "receipt", manifest=DIGEST, hop=integer("hop-out-of-range", 2, 6), arrivals=maybe(LISTS)
)
WITHDRAWAL = note("withdrawal", sheet=DIGEST)
ROTATION = note(
    "rotation",
    role=string("role-name-malformed", "[A-Za-z0-9][A-Za-z0-9._/-]{0,99}"),
    old=string("wrong-type"),
    new=string("wrong-type"),
)


def rotation_of(data):
    """Section 11, rotation: the role, its old and its new key as they are written."""
    read = ROTATION(data)
    role, keys = read["role"], (read["old"], read["new"])
    for key in keys:
        raw = notes.decoded(key.split("+", 2)[-1]) or b""
        right = len(raw) == 33 and key == notes.verifier(role, raw[1:])
        need(right, "key-malformed")
    need(keys[0] != keys[1], "key-twice")
    for key in keys:
        notes.all_signed(data, notes.keys_of([key]))
    return (role, *keys)


def rotations_of(vector):
    """The keys of a role from one key on."""
    listed, following = plain_of(vector["rotations"].encode()), {}
    need(isinstance(listed, list), "wrong-type")
    need(len(listed) <= 100, "too-long")
    for one in listed:
        need(isinstance(one, str), "wrong-type")
        _, old, new = rotation_of(one.encode("utf-8", "surrogatepass"))
        need(following.setdefault(old, new) == new, "rotated-twice")
    keys = [vector["key"]]
    while len(keys) <= 16 and keys[-1] in following:
        keys.append(following[keys[-1]])
    return {"keys": keys}


def sent(part):
    dropped = part["copies"] + part["unopened"] + part["malformed"]
    return part["received"] - dropped + part["added"]


def manifest_of(data):
    """Section 17."""
    read = MANIFEST(data)
    names, end = read["overruled"], read["destroyed"]
    need(len(names) <= 5 and len(set(names)) == len(names), "overruled-unfit")
    absent = read["before"] is None
    may_lack = end not in (None, "too-few")
    need(absent if read["hop"] == 1 else not absent or may_lack, "before-unfit")
    for part in read["parts"]:
        pieces = part["pieces"]
        need(len(pieces) <= 2**16, "too-many-pieces")
        if end:
            need(not pieces and not part["added"], "destroyed-with-pieces")
            continue
        held = sum(piece["messages"] for piece in pieces)
        need(sent(part) == held and sent(part) >= part["added"], "false-sum")
    names = [piece["sha256"] for part in read["parts"] for piece in part["pieces"]]
    need(len(set(names)) == len(names), "piece-twice")
    counts = [part["received"] for part in read["parts"]]
    if read["hop"] == 1:
        counts = [read["bundles"] + read["left_out"]]
    check_lists(read["arrivals"], [] if end else counts)
    return read


def round_of(vector):
    """Section 17, the last but one paragraph."""
    served = vector["contract"].encode()
    contract = contract_of(served)
    sheet = fitting(vector["sheet"].encode(), contract, served)
    given = [[one.encode() for one in vector[name]] for name in ("manifests", "receipts")]
    manifests, receipts = given
    hops, signers = len(contract["hops"]), list(roles(contract).items())
    need(len(manifests) <= hops and len(receipts) <= len(manifests), "other-hop")
    before, out, chain = None, [], []
    for place, data in enumerate(manifests, start=1):
        read = manifest_of(notes.all_signed(data, dict([signers[place - 1]])))
        need(read["sheet"] == sheet, "other-sheet")
        need(read["hop"] == place, "other-hop")
        need(len(read["parts"]) == len(contract["plan"]["parts"]), "parts-miscounted")
        crowd = contract["plan"]["minimum_crowd"]
        need(read["destroyed"] or read["bundles"] >= crowd, "crowd-too-small")
        within_limits(read, contract)
        if place > 1 and read["before"] is not None:
            follow(read, before, digest(manifests[place - 2]))
        for part, stream in zip(read["parts"], contract["plan"]["parts"], strict=True):
            check_pieces(part["pieces"], vector["pieces"], size_of(contract, stream, place + 1))
        before = read
        chain.append(read)
        out.append([0 if read["destroyed"] else sent(part) for part in read["parts"]])
    for place, data in enumerate(receipts, start=1):
        read = RECEIPT(notes.all_signed(data, dict([signers[place]])))
        need(read["manifest"] == digest(manifests[place - 1]), "other-manifest")
        need(read["hop"] == place + 1, "other-hop")
        need((read["arrivals"] is None) == (place < hops), "arrivals-miscounted")
        if place == hops:
            check_lists(read["arrivals"], [] if before["destroyed"] else out[-1])
            chain.append(read)
    for place, (one, after) in enumerate(pairwise(chain), start=2):
        if not one["destroyed"] and not after.get("destroyed"):
            for part, (listed, at) in enumerate(zip(after["arrivals"], one["parts"], strict=True)):
                size = size_of(contract, contract["plan"]["parts"][part], place)
                data = b"".join(bytes.fromhex(vector["pieces"][p["sha256"]]) for p in at["pieces"])
                came = [data[i : i + size] for i in range(0, len(data), size)]
                made = list_of(bytes.fromhex(sheet), place, part, came)
                right = [hashlib.sha256(made).hexdigest()] if made else []
                need([file["sha256"] for file in listed] == right, "arrivals-differ")
    return {"sent": out}


def within_limits(read, contract):
    most = contract["most_bundles"]
    need(read["bundles"] + read["left_out"] <= most, "too-many-bundles")
    streams = zip(read["parts"], contract["plan"]["parts"], shapes_of(contract), strict=True)
    for part, stream, (slots, *_) in streams:
        fakes = most_fakes(stream["recipe"], stream["layout"])
        need(sent(part) <= most * slots + read["hop"] * fakes, "too-many-messages")


def follow(read, before, named):
    need(read["before"] == named, "before-unfit")
    for name in ("bundles", "left_out"):
        need(read[name] == before[name], "bundles-differ")
    need(read["destroyed"] or not before["destroyed"], "not-destroyed")
    pairs = zip(read["parts"], before["parts"], strict=True)
    same = all(part["received"] == sent(one) for part, one in pairs)
    need(read["destroyed"] or same, "received-differs")


CODES = note("codes", contract=DIGEST, hashes=several(DIGEST))


def codes_of(vector):
    """Section 15, the list of hashes."""
    served, data = vector["contract"].encode(), vector["codes"].encode()
    contract = contract_of(served)
    signer = list(roles(contract).items())[-1]
    read = CODES(notes.all_signed(data, dict([signer])))
    need(read["contract"] == digest(served), "other-contract")
    hashes = read["hashes"]
    need(1 <= len(hashes) <= min(contract["most_bundles"], 200_000), "codes-miscounted")
    need(sorted(set(hashes)) == hashes, "codes-unsorted")
    return {"hashes": hashes}


def envelope(vector):
    """Section 14."""
    held, out = bytes.fromhex(vector["envelope"]), []
    sheet = hashlib.sha256(text_of(vector["sheet"].encode())).digest()
    for hop, secret in enumerate(vector["secrets"], start=vector["first"]):
        info = seal.info_of(sheet, hop, vector["part"])
        held = seal.open_layer(vector["suite"], bytes.fromhex(secret), info, held)
        out.append(held if held is None else held.hex())
        if held is None:
            break
    return {"opened": out}


@told
def found(vector):
    """What this program finds for a vector, in the words of the vector."""
    what = vector["what"].removeprefix("refused ")
    keys = notes.keys_of(vector.get("keys", []))
    text = vector.get("text", "").encode()
    if what == "note":
        data = bytes.fromhex(vector.get("note_hex", "")) or vector["note"].encode()
        if re.match("refused", vector["what"]):
            return {"text": notes.all_signed(data, keys).decode()}
        return {"signers": sorted(notes.lines_of(data, keys))}
    if what == "signed note":
        verifier, made = notes.signed(vector["key"], text)
        return {"verifier": verifier, "note": made.decode()}
    if what == "joined notes":
        several = [one.encode() for one in vector["notes"]]
        return {"note": notes.joined(text, several, keys).decode()}
    if what == "key configuration":
        public = seal.public_of(vector["suite"], bytes.fromhex(vector["secret"]))
        return {"configuration": seal.configuration(vector["suite"], public).hex()}
    if what in ("sheet", "shapes"):
        served = vector["contract"].encode()
        contract = contract_of(served)
        if what == "shapes":
            return {"shapes": shapes_of(contract)}
        return {"hash": fitting(vector["sheet"].encode(), contract, served)}
    if what == "bundles":
        return bundles_of(bytes.fromhex(vector["body"]), vector["shapes"])
    if what == "manifest":
        data = vector["manifest"].encode()
        return {"sent": [sent(part) for part in manifest_of(data)["parts"]], "hash": digest(data)}
    if what == "withdrawal":
        data = vector["withdrawal"].encode()
        return {"of": WITHDRAWAL(data)["sheet"], "hash": digest(data)}
    if what == "rotation":
        data = vector["rotation"].encode()
        role, old, new = rotation_of(data)
        return {"role": role, "old": old, "new": new, "hash": digest(data)}
    if what == "rotations":
        return rotations_of(vector)
    if what == "receipt":
        data = vector["receipt"].encode()
        return {"of": RECEIPT(data)["manifest"], "hash": digest(data)}
    several = {"envelope": envelope, "first hop": first_hop, "round": round_of}
    several |= {"arrivals": arrivals, "listed": listed, "code": code_of, "codes": codes_of}
    return several[what](vector)

"""Section 11 of SPEC.md: notes and their keys, with an Ed25519 of its own (RFC 8032)."""

import base64
import hashlib
import re

from spec.stranger_contract import text_of
from spec.stranger_forms import RefusalError, need

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P


def add(a, b):
    """The sum of two points (x, y) of the curve -x^2 + y^2 = 1 + D x^2 y^2, in fractions.

    A point is X : Y : Z : T with x = X / Z, y = Y / Z, x y = T / Z.
    """
    (x1, y1, z1, t1), (x2, y2, z2, t2) = a, b
    e, f = x1 * y2 + x2 * y1, z1 * z2 - D * t1 * t2
    g, h = z1 * z2 + D * t1 * t2, y1 * y2 + x1 * x2
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(k, point):
    total = (0, 1, 1, 0)
    while k:
        if k & 1:
            total = add(total, point)
        point, k = add(point, point), k >> 1
    return total


def point_of(data):
    """The point that 32 bytes write; None for none."""
    y = int.from_bytes(data, "little")
    odd, y = y >> 255, y & (2**255 - 1)
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * pow(2, (P - 1) // 4, P) % P
    if x * x % P != square or y >= P or (x == 0 and odd):
        return None
    x = P - x if x & 1 != odd else x
    return x, y, 1, x * y % P


def written(point):
    x, y, z, _ = point
    x, y = (one * pow(z, -1, P) % P for one in (x, y))
    return (y | (x & 1) << 255).to_bytes(32, "little")


BASE = point_of((4 * pow(5, -1, P) % P).to_bytes(32, "little"))


def hashed(*parts):
    return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little")


def public_of(seed):
    return written(times(scalar_of(seed)[0], BASE))


def scalar_of(seed):
    digest = hashlib.sha512(seed).digest()
    return int.from_bytes(digest[:32], "little") & (2**254 - 8) | 2**254, digest[32:]


def sign(seed, text):
    s, prefix = scalar_of(seed)
    r = hashed(prefix, text) % ORDER
    front = written(times(r, BASE))
    return front + ((r + hashed(front, public_of(seed), text) * s) % ORDER).to_bytes(32, "little")


def true(public, text, signature):
    """Whether [S] B = R + [k] A."""
    a = point_of(public)
    if len(signature) != 64 or a is None or written(times(8, a)) == written((0, 1, 1, 0)):
        return False
    front, s = signature[:32], int.from_bytes(signature[32:], "little")
    k = hashed(front, public, text) % ORDER
    minus = (P - a[0], a[1], 1, P - a[3])
    return s < ORDER and written(add(times(s, BASE), times(k, minus))) == front


def decoded(text):
    """Base64 in the one spelling that an encoder gives; None for any other."""
    try:
        raw = base64.b64decode(text, validate=True)
    except ValueError:
        return None
    return raw if base64.b64encode(raw).decode() == text else None


def key_hash(name, public):
    return hashlib.sha256(name.encode() + b"\n\1" + public).digest()[:4]


def verifier(name, public):
    raw = base64.b64encode(b"\1" + public).decode()
    return f"{name}+{key_hash(name, public).hex()}+{raw}"


def keys_of(several):
    """Verifier keys that are known to be well: name -> public key."""
    split = [one.split("+", 2) for one in several]
    return {name: base64.b64decode(raw)[1:] for name, _, raw in split}


def parts_of(data):
    """A note: its text; its lines as (line, name, bytes)."""
    text = text_of(data)
    below = data[len(text) :]
    try:
        text.decode("utf-8")
        drawn = below.decode("utf-8")
    except UnicodeDecodeError:
        raise RefusalError("no-note") from None
    need(text[-1:] == b"\n", "no-note")
    need(not any(byte < 32 and byte != 10 for byte in text), "no-note")
    lines = re.findall("(\u2014 ([A-Za-z0-9][A-Za-z0-9._/-]{0,99}) ([^ \n]+)\n)", drawn)
    need("".join(["\n" * bool(lines), *(line[0] for line in lines)]) == drawn, "no-note")
    need(len(lines) <= 100, "no-note")
    read = [(line.encode(), name, decoded(raw)) for line, name, raw in lines]
    need(all(raw is not None and len(raw) > 4 for *_, raw in read), "no-note")
    return text, read


def lines_of(data, keys):
    """Name -> first line of its key."""
    text, lines = parts_of(data)
    found = {}
    for line, name, raw in lines:
        if name in keys and raw[:4] == key_hash(name, keys[name]):
            need(true(keys[name], text, raw[4:]), "signature-false")
            found.setdefault(name, line)
    return found


def all_signed(data, keys):
    """The text, which every key has signed."""
    need(lines_of(data, keys).keys() == keys.keys(), "signature-missing")
    return text_of(data)


def joined(text, notes, keys):
    first = {}
    for note in notes:
        need(text_of(note) == text, "another-text")
        first = lines_of(note, keys) | first
    lines = [first[name] for name in keys if name in first]
    return text + b"\n" * bool(lines) + b"".join(lines)


def signed(key, text):
    """A signing key's verifier key, and its note of a text without signatures."""
    _, _, name, digest, raw = key.split("+", 4)
    seed = base64.b64decode(raw)[1:]
    public = public_of(seed)
    assert bytes.fromhex(digest) == key_hash(name, public)
    raw = base64.b64encode(key_hash(name, public) + sign(seed, text)).decode()
    return verifier(name, public), text + f"\n\u2014 {name} {raw}\n".encode()

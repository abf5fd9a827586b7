"""Roles and client files, section 2 of SPEC.md."""

import base64
import hashlib
import unicodedata

from spec.stranger_forms import fields, need, several, string


def operator(value):
    string()(value)
    plain = all(one == " " or unicodedata.category(one)[0] not in "CZ" for one in value)
    need(plain and 1 <= len(value) <= 200, "operator-malformed")
    return value


def role(value):
    local = r"http://(127\.0\.0\.1|localhost|\[::1\])(:[0-9]+)?(/[!-~]{0,100})?"
    read = fields(
        name=string("role-name-malformed", r"[A-Za-z0-9][A-Za-z0-9._/-]{0,99}"),
        address=string("address-malformed", r"https://[!-~]{1,200}|" + local),
        key=string("key-malformed", r"[^+]+\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}"),
        operator=operator,
    )(value)
    name, digest, written = read["key"].split("+", 2)
    raw = base64.b64decode(written)
    true = hashlib.sha256(name.encode() + b"\n" + raw).hexdigest()[:8]
    need(name == read["name"] and digest == true and raw[:1] == b"\x01", "key-malformed")
    return read


PATH = r"[A-Za-z0-9._@+~-]+(/[A-Za-z0-9._@+~-]+)*"


def files(value):
    one = fields(
        path=string("client-files-malformed", PATH),
        sha256=string("client-files-malformed", "[0-9a-f]{64}"),
    )
    paths = [read["path"] for read in several(one)(value)]
    need(len(paths) <= 128 and sorted(set(paths)) == paths, "client-files-malformed")
    safe = all(len(path) <= 200 and "/." not in f"/{path}" for path in paths)
    need(safe, "client-files-malformed")
    return value

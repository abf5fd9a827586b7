"""Arrival lists, pieces and codes of SPEC.md, sections 15, 17 and 18, for ``stranger_wire``."""

import hashlib
import re

from spec.stranger_contract import text_of
from spec.stranger_forms import need

DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def check_lists(lists, counts):
    """Section 18: how many tags the files of a list have."""
    full = 2**21
    for one in lists:
        need(len(one) <= 2**16, "too-many-pieces")
    need(len(lists) == len(counts), "arrivals-miscounted")
    for files, count in zip(lists, counts, strict=True):
        sizes = [file["tags"] for file in files]
        need(sum(sizes) == count, "arrivals-miscounted")
        need(all(size == full for size in sizes[:-1]), "arrivals-miscounted")
    names = [file["sha256"] for files in lists for file in files]
    need(len(set(names)) == len(names), "piece-twice")


def list_of(sheet, hop, part, came):
    """Section 18: a list, here always of one file."""
    start = b"mixtally arrival 1" + sheet + bytes([hop]) + part.to_bytes(2, "big")
    return b"".join(sorted(hashlib.sha256(start + one).digest()[:8] for one in came))


def arrivals(vector):
    sheet = hashlib.sha256(text_of(vector["sheet"].encode())).digest()
    came = [bytes.fromhex(one) for one in vector["received"]]
    return {"list": list_of(sheet, vector["hop"], vector["part"], came).hex()}


def listed(vector):
    every = []
    for file in vector["files"]:
        data = bytes.fromhex(vector["pieces"].get(file["sha256"], ""))
        need(hashlib.sha256(data).hexdigest() == file["sha256"], "piece-differs")
        need(len(data) == 8 * file["tags"], "piece-length")
        every += [data[i : i + 8].hex() for i in range(0, len(data), 8)]
        need(every == sorted(every), "tags-unsorted")
    return {"found": sorted(set(vector["tags"]) & set(every))}


def code_of(vector):
    """Section 15, codes."""
    typed = vector["typed"]
    need(vector["admission"] == "open" or typed is not None, "code-missing")
    need(vector["admission"] == "codes" or typed is None, "code-not-asked")
    code = re.sub("[- ]", "", typed.strip(" \t\r\n"))
    need(re.fullmatch("[0-9A-Za-z]{28}", code), "code-malformed")
    code = re.sub("[IL]", "1", code.upper().replace("O", "0"))
    need("U" not in code, "code-malformed")
    bits = "".join(f"{DIGITS.index(digit):05b}" for digit in code)
    secret = int(bits[:128], 2).to_bytes(16, "big")
    need(hashlib.sha256(secret).hexdigest()[:3] == f"{int(bits[128:], 2):03x}", "code-malformed")
    return {"code": code, "hash": hashlib.sha256(code.encode()).hexdigest()}


def check_pieces(pieces, files, size):
    for piece in pieces:
        data = bytes.fromhex(files.get(piece["sha256"], ""))
        need(hashlib.sha256(data).hexdigest() == piece["sha256"], "piece-differs")
        need(len(data) == piece["messages"] * size <= 2**24, "piece-length")

"""Notes for tests, made by hand."""

import json

import pytest

from helpers.listed import listed
from mixtally.device.wire.consistency import Frame
from mixtally.device.wire.manifest import Manifest, PartManifest, Piece
from mixtally.device.wire.sheet import Sheet
from mixtally.device.wire.suite import SUITES
from mixtally.errors import RefusedError

GONE = object()
"""In place of a field: it is left out."""
HASH, OTHER = "ab" * 32, "cd" * 32


def private(hop, suite=1):
    """Secret bytes of a hop's key."""
    return bytes([hop + 1] * SUITES[suite].private_bytes)


def sheet(hops=2, suite=1, **changes):
    """A sheet of two hops and a collector."""
    keys = tuple(SUITES[suite].configuration(private(hop, suite)) for hop in range(hops + 1))
    fields = {"contract": HASH, "round": 3, "opens": 1000, "closes": 4600, "expires": 9000}
    return Sheet(**{**fields, "keys": keys, **changes})


def frame(**changes):
    """What the contract of that sheet says."""
    fields = {"contract": HASH, "rounds": 3, "open_seconds": 3600, "hops": 2, "suite": 1}
    fields |= {"parts": 1, "minimum_crowd": 9, "most_bundles": 30}
    return Frame(**{**fields, "most_messages": ((60, 90, 120),), **changes})


def manifest(hop=1, **changes):
    """A manifest of one part: 9 came, one was a copy, 3 were added."""
    pieces = (Piece("01" * 32, 7), Piece("02" * 32, 4))
    fields = {
        "sheet": HASH,
        "hop": hop,
        "bundles": 9,
        "left_out": 1,
        "destroyed": None,
        "before": None if hop == 1 else OTHER,
        "parts": (PartManifest(received=9, copies=1, added=3, pieces=pieces),),
        "overruled": ("mix/2",),
    }
    return listed(Manifest(**{**fields, **changes}))


def altered(data, changes):
    """A note's text with other values at some places, written "parts.0.added"."""
    plain = json.loads(data)
    for path, value in changes.items():
        *places, last = (int(name) if name.isdigit() else name for name in path.split("."))
        holder = plain
        for name in places:
            holder = holder[name]
        if value is GONE:
            del holder[last]
        else:
            holder[last] = value
    return json.dumps(plain).encode() + b"\n"


def reason(act, *given, **more):
    """Why ``act`` refuses."""
    with pytest.raises(RefusedError) as caught:
        act(*given, **more)
    return caught.value.reason

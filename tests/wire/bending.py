"""Good bytes bent in a few places, by a seed: what strangers and dishonest roles might send."""

import copy
import json

from mixtally.device.contract.fields import text_of

SPLICES = [
    *(b"\n\n\xe2\x80\x94 ", b"\xe2\x80\x94", b"\n", b'"', b"{", b"}", b"[", b"]", b"null", b"-1"),
    *(b"1e999", b"NaN", b"9007199254740993", b'"9007199254740993"', b"\\ud800", b"\x00", b"\xff"),
    *(b"true", b'""', b"{}", b"[]", b'"kind": "sheet",', b"==", b"+", b"0.5", b"1" * 5000),
]
ODD = [None, True, -1, 0.5, 1 << 60, str(1 << 60), "", "x", [], {}, [[]], {"a": 1}, "a" * 64]
ODD += [1, 2, 3, "0" * 64, 1 << 53, "9" * 40, ["a"] * 200, "\u2028\ud800", 1e300]


def bent(chance, seeds):
    """Bytes of one of ``seeds``, changed in a few places; some of no form at all."""
    if chance.random() < 0.1:
        return chance.randbytes(chance.randrange(200))
    data = bytearray(chance.choice(seeds))
    for _ in range(chance.randint(1, 4)):
        place, kind = chance.randrange(len(data) + 1), chance.randrange(5)
        if kind == 0:
            data[place:place] = chance.choice(SPLICES)
        elif kind == 1:
            del data[place : place + chance.randint(1, 30)]
        elif kind == 2:
            data[place : place + 1] = chance.randbytes(1)
        elif kind == 3:
            data[place:place] = data[place : place + chance.randint(1, 200)]
        else:
            data[place : place + chance.randint(1, 9)] = chance.choice(SPLICES)
    return bytes(data)


def restated(chance, notes):
    """The text of one of ``notes``, which are JSON, with other values in some fields."""
    plain = json.loads(text_of(chance.choice(notes)))
    for _ in range(chance.randint(1, 3)):
        holder = plain
        while True:
            names = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
            if not names:
                break
            name = chance.choice(names)
            if isinstance(holder[name], dict | list) and chance.random() < 0.7:
                holder = holder[name]
                continue
            holder[name] = copy.deepcopy(chance.choice(ODD))
            break
    return json.dumps(plain).encode() + b"\n"

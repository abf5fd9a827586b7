"""Contracts with something else in one place, for all who must refuse them alike."""

import json

ODD = (
    *(None, True, False, 0, -1, 1, 2, 0.5, 1.0, 1e-16, 1e400, 17, 65, 1 << 53, (1 << 53) + 1),
    *(
        "",
        "0",
        "1",
        "-5",
        str(1 << 53),
        str(1 << 63),
        str(1 << 64),
        "one",
        "set",
        "a\x07",
        "\ud800",
    ),
    *([], {}, [1], ["a"], {"type": "none"}, "positions", "index", "bits", "uniform", "people"),
)
"""Put in the place of anything."""


def places(value, path=()):
    """Every place in plain data."""
    yield path
    if isinstance(value, dict | list):
        for name in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[name], (*path, name))


def altered(plain, path, chance):
    """A copy with something else at ``path``."""
    copy = json.loads(json.dumps(plain))
    holder = copy
    for name in path[:-1]:
        holder = holder[name]
    last, old = path[-1], holder[path[-1]]
    kind = chance.randrange(6)
    if kind == 0:
        del holder[last]
    elif kind == 1 and isinstance(holder, dict):
        holder["more"] = 1
    elif kind == 2 and isinstance(old, int | float) and not isinstance(old, bool):
        holder[last] = chance.choice([old + 1, old - 1, -old, old * 2, str(old), float(old)])
    elif kind == 3 and isinstance(old, str):
        holder[last] = chance.choice([old + "x", old[1:], old.upper(), str(len(old)), old + "0"])
    elif kind == 4 and isinstance(old, list):
        holder[last] = chance.choice([old[1:], old + old[:1], old[::-1], [old]])
    else:
        holder[last] = chance.choice(ODD)
    return copy

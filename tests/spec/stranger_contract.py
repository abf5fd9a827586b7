"""Sections 1 and 2 of SPEC.md: a contract as nested dictionaries, every integer an int.

Written from that page alone, as a table of what each field must be.
"""

import json
import math
import sys
from fractions import Fraction
from unicodedata import normalize

from spec.stranger_forms import (
    RefusalError,
    check_version,
    fields,
    flag,
    integer,
    maybe,
    message_size,
    need,
    number,
    several,
    string,
    word,
)
from spec.stranger_roles import files, role

CONTROL = r"[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]*"
THRESHOLD = integer("threshold-out-of-range", 2**24, 2**63)

PAIRED = ("paired", "paired-gaussian")
CLEAR = ("shaped", "gaussian", *PAIRED)
LAPLACE = {
    "ratio": integer("ratio-out-of-range", 1, 2**64 - 1),
    "shift": integer("shift-out-of-range", 1, 10**5),
}
BELL = {
    "variance": integer("variance-out-of-range", 1, 10**9),
    "shift": integer("shift-out-of-range", 1, 10**5),
}
RECIPES = {
    "none": {},
    "shaped": LAPLACE,
    "gaussian": BELL,
    "paired": LAPLACE,
    "paired-gaussian": BELL,
    "blanks": {"count": integer("count-out-of-range", 1, 10**10), "threshold": THRESHOLD},
    "uniform": {"count": integer("count-out-of-range", 1, 10**10)},
}


def recipe(value):
    known = isinstance(value, dict) and value.get("type") in list(RECIPES)
    need(known, "unknown-recipe")
    return fields(type=str, **RECIPES[value["type"]])(value)


def own(value):
    read = fields(
        record=word("unknown-fake", "blank", "uniform"),
        whole=integer("own-fakes-out-of-range", 0, 1000),
        coin=integer(""),
    )(value)
    need(read["coin"] >= 0, "coin-below-zero")
    need(read["coin"] < 2**64, "coin-too-large")
    need(read["coin"] or read["whole"], "own-fakes-none")
    return read


def layout(value):
    read = fields(
        form=word("unknown-form", "bits", "index", "positions"),
        bins=integer("layout-bins", 1, 2**127),
        cap=maybe(integer("")),
    )(value)
    form, cap = read["form"], read["cap"]
    need(form != "index" or cap is None, "cap-with-index")
    need(form != "positions" or cap is not None, "cap-missing")
    if cap is not None:
        need(cap >= 1, "cap-below-one")
        need(cap <= min(read["bins"], 65535 if form == "positions" else 10**7), "cap-too-large")
    return read


def planes(value):
    """Section 4, and what Z_p^t has."""
    read = fields(
        prime=integer("prime-out-of-range", 2, 2**31 - 1),
        digits=integer("digits-out-of-range", 2, 62),
    )(value)
    p, t = read["prime"], read["digits"]
    need(all(p % n for n in range(2, math.isqrt(p) + 1)), "not-prime")
    read["directions"] = sum(p**k for k in range(t))
    read["messages"], read["points"] = read["directions"] * p, p**t
    read["texts"] = read["points"] if read["points"] < 2**63 else 2**62
    need(read["messages"] <= 2**127, "planes-too-many")
    return read


def part(value):
    read = fields(
        bins=integer("bins-out-of-range", 1, 2**127),
        most_set=maybe(integer("most-set-out-of-range", 1, 64)),
        threshold=maybe(THRESHOLD),
        planes=maybe(planes),
        own=maybe(own),
        repeats=integer("repeats-out-of-range", 1, 1000),
        recipe=recipe,
        layout=layout,
        replaced=maybe(integer("replaced-out-of-range", 1, 2**64 - 1)),
        slots=maybe(integer("slots-out-of-range", 1, 63)),
    )(value)
    d, most, fake, kind = read["bins"], read["most_set"], read["own"], read["recipe"]["type"]
    need(d <= 64 if most is None else d >= 2, "bins-out-of-range")
    sent, full = read["slots"], read["layout"]["bins"] == d
    largest = 64 if sent is not None and full else 16
    need(most is None or most <= min(largest, d), "most-set-out-of-range")
    if sent is not None:
        clear = read["threshold"] is None and read["planes"] is None and read["replaced"] is None
        need(most is not None and most > 1 and clear and kind not in CLEAR, "slots-unfit")
        need(sent < most, "slots-out-of-range")
        need(not full or d >= 2 * most, "slots-unfit")
    over = read["planes"]
    need(d <= (10**7 if over is None else over["points"]), "bins-out-of-range")
    pads = most if read["threshold"] is None and most is not None and most > 1 else 0
    pads = 0 if sent is not None and full else pads
    need(read["layout"]["bins"] == (d + pads if over is None else over["messages"]), "layout-bins")
    need(fake is None or kind == "none", "two-covers")
    alone = read["threshold"] is not None and fake is None and kind == "none"
    need(read["repeats"] == 1 or alone, "repeats-unfit")
    uniform = fake is not None and fake["record"] == "uniform"
    if read["threshold"] is None:
        need(most is not None and read["layout"]["form"] == "index", "clear-not-index")
        covers = fake is not None or kind in CLEAR or over is not None
        covers = covers or sent == 1
        need(most == 1 or covers or read["replaced"] is not None, "set-uncovered")
        need(read["replaced"] is None or kind == "none", "replaced-unfit")
        need(fake is None or uniform, "clear-uncovered")
        covered = kind in (*CLEAR, "uniform") or uniform or read["replaced"] is not None
        need(covered, "clear-uncovered")
        if over is not None:
            p, t = over["prime"], over["digits"]
            need(kind not in CLEAR, "planes-among-shaped")
            if most > 1:
                need(p >= 2 * most, "planes-below-set")
                longer = sum(p ** (k + 1) for k in range(t + 1))
                short = read["layout"]["bins"] <= 2**63
                need(d > p and longer > (2**63 if short and t > most else 2**127), "digits-unfit")
                return read
            need(over["messages"] <= 2**63, "planes-too-many")
            need(d > p and (t == 2 or p ** (t - 1) < d), "digits-unfit")
        need(kind not in PAIRED or read["layout"]["bins"] == 2, "paired-unfit")
        return read
    need(over is None, "planes-flipped")
    need(read["replaced"] is None, "replaced-unfit")
    need(read["threshold"] < 2**63, "threshold-half")
    need(read["layout"]["form"] != "index", "flips-as-index")
    need(kind not in (*CLEAR, "uniform"), "recipe-unfit")
    need(kind == "none" or read["recipe"]["threshold"] == read["threshold"], "recipe-unfit")
    need(not uniform or most == 1, "uniform-fakes-unfit")
    need(most is not None or d == 1 or (fake is None and kind == "none"), "free-bits-among-fakes")
    cap = read["layout"]["cap"]
    need(cap is None or cap >= (d if most is None else most), "cap-below-record")
    return read


def question(value):
    read = fields(
        name=string("control-character-in-name", CONTROL),
        bins=integer("bins-out-of-range", 1, 2**63 - 1),
        labels=maybe(several(string("control-character-in-label", CONTROL))),
        kind=word("unknown-kind", "one", "set", "bits"),
        max_set=integer("max-set-out-of-range", 1, 16),
        attributes=maybe(several(integer("attributes-unfit", 2))),
        hashed=maybe(
            fields(
                function=word("unknown-hash", "HMAC-SHA-256"),
                seed=string("seed-malformed", "[0-9a-f]{32}"),
            )
        ),
    )(value)
    bins, labels, kind, sizes = (read[name] for name in ("bins", "labels", "kind", "attributes"))
    need(bins <= 64 if kind == "bits" else bins >= 2, "bins-out-of-range")
    need(read["hashed"] is not None or bins <= 10**7, "bins-out-of-range")
    need(read["max_set"] <= (bins if kind == "set" else 1), "max-set-out-of-range")
    if sizes is not None:
        fit = kind == "set" and sum(sizes) == bins and len(sizes) == read["max_set"]
        need(fit, "attributes-unfit")
    if read["hashed"] is not None:
        need(kind != "bits" and labels is None and sizes is None, "hashed-with-labels")
    if labels is not None:
        need("" not in labels, "label-empty")
        need(len({normalize("NFC", one) for one in labels}) == len(labels), "label-twice")
        need(len(labels) == bins, "labels-miscounted")
    return read


CERTIFICATE = fields(
    epsilon=number("other-epsilon"),
    lower=number("bounds-out-of-range", 0),
    upper=number("bounds-out-of-range", 0, 1),
    observer=word("unknown-observer", "messages"),
    status=word("not-proved", "proved"),
    source=string(),
    assumption=string(),
)
GUARANTEE = fields(
    epsilon=number("epsilon-out-of-range", 0.01, 20),
    delta=number("delta-out-of-range", 1e-15, 0.1),
    observer=word("unknown-observer", "messages"),
)
PREFIXES = fields(
    alphabet=string(),
    most=integer("prefixes-out-of-range", 1, 10**6),
    longest=integer("prefixes-out-of-range", 1, 1000),
    symbols=integer("prefixes-out-of-range", 1, 10),
)
GRID = fields(
    low=number("grid-ends"),
    high=number("grid-ends"),
    points=integer("grid-points", 2, 10**6),
)
PLAN = fields(
    version=integer("unknown-version"),
    question=question,
    edges=maybe(several(number("no-scale"))),
    grid=maybe(GRID),
    prefixes=maybe(PREFIXES),
    guarantee=GUARANTEE,
    users=integer("users-out-of-range", 2, 10**10),
    minimum_crowd=integer("minimum-crowd-out-of-range", 1, 10**10),
    honest_share=number("honest-share-out-of-range", 1e-12, 1),
    count_flips=flag,
    collections=integer("collections-out-of-range", 1, 1000),
    hops=integer("hops-out-of-range", 1, 5),
    cover=word("unknown-cover", "every mix", "people"),
    parts=several(part),
    certificate=CERTIFICATE,
    local_epsilon=maybe(number("local-epsilon-out-of-range", 0)),
)


def plan(value):
    check_version(value, 6)
    read = PLAN(value)
    asked, edges, prefixes = read["question"], read["edges"], read["prefixes"]
    grid = read["grid"]
    ways = [way for way in (edges, grid, prefixes, asked["hashed"]) if way is not None]
    single = asked["kind"] == "one" or asked["hashed"] is not None
    need(len(ways) <= 1 and (not ways or single), "several-encoders")
    if edges is not None:
        rising = all(edges[i] < edges[i + 1] for i in range(len(edges) - 1))
        need(rising and len(edges) == asked["bins"] + 1, "no-scale")
    if grid is not None:
        need(0 < grid["high"] - grid["low"] <= sys.float_info.max, "grid-ends")
        need(grid["points"] == asked["bins"], "grid-points")
    if prefixes is not None:
        letters = prefixes["alphabet"]
        need(2 <= len(letters) <= 200 and len(set(letters)) == len(letters), "alphabet-unfit")
        level = (len(letters) + 2) ** prefixes["symbols"]
        need(asked["bins"] == prefixes["most"] * level + 1, "prefixes-bins")
    need(read["minimum_crowd"] <= read["users"], "minimum-crowd-above-users")
    proof, promised = read["certificate"], read["guarantee"]
    need(proof["lower"] <= proof["upper"], "bounds-out-of-range")
    need(proof["epsilon"] == promised["epsilon"], "other-epsilon")
    need(proof["upper"] <= promised["delta"], "proved-above-promise")
    check_parts(asked, read["parts"])
    check_cover(read)
    return read


def check_parts(asked, parts):
    """The table "parts of a record"."""
    bins, kind = asked["bins"], asked["kind"]
    if asked["hashed"] is not None:
        over = parts[0]["planes"] if parts else None
        need(over is not None and over["texts"] == bins, "hashed-without-planes")
    whole = [(bins, None if kind == "bits" else asked["max_set"])]
    clear = [one for one in parts if one["threshold"] is None]
    held = kind == "set" and asked["attributes"] is None and asked["max_set"] > 1
    if parts and parts[0]["slots"] is not None:
        most = bins if kind == "bits" else asked["max_set"]
        one = (2 * bins if kind == "bits" else bins, most)
        full = parts[0]["layout"]["bins"] == one[0]
        shown = [(each["bins"], each["most_set"]) for each in parts]
        need(shown == [one] and full != held, "parts-unfit")
        return
    ways = [(whole, kind == "one" or (held and len(clear) == 1))]
    if kind == "bits":
        ways += [([(1, None)] * bins, False), ([(2, 1)] * bins, True)]
    if asked["attributes"] is not None:
        ways.append(([(size, 1) for size in asked["attributes"]], True))
    shown = [(one["bins"], one["most_set"]) for one in parts]
    one_bin = any(
        one["threshold"] is None or (one["own"] and one["own"]["record"] == "uniform")
        for one in parts
    )
    need(any(shown == way and (exact or not one_bin) for way, exact in ways), "parts-unfit")


def check_cover(read):
    parts, mixes = read["parts"], read["cover"] == "every mix"
    need(all((one["recipe"]["type"] != "none") == mixes for one in parts), "cover-unfit")
    if mixes:
        need(not read["count_flips"], "flips-beside-mixes")
        return
    share = Fraction(repr(read["honest_share"]))
    need(math.floor(share * read["minimum_crowd"]) >= 2, "too-few-honest")
    free = any(one["most_set"] is None and one["bins"] > 1 for one in parts)
    need(read["count_flips"] or not free, "free-bits-uncounted")
    replaced = any(one["replaced"] is not None for one in parts)
    need(read["count_flips"] or not replaced, "replaced-uncounted")
    flipped = [one for one in parts if one["threshold"] is not None and one["own"]]
    if any(one["own"]["record"] == "uniform" for one in flipped):
        need(len(parts) * read["collections"] == 1, "flip-uniform-repeated")


def sizes(value):
    return several(several(integer("envelope-bytes")))(value)


SECONDS = integer("rounds-out-of-range", 1, 10**8)
CONTRACT = fields(
    version=integer("unknown-version"),
    name=string("name-malformed", "[a-z0-9][a-z0-9-]{0,62}"),
    serial=integer("serial-out-of-range", 1, 2**53),
    plan=plan,
    hops=several(role),
    collector=role,
    suite=integer("unknown-suite", 1, 2),
    envelope_bytes=sizes,
    rounds=fields(open_seconds=SECONDS, every_seconds=SECONDS),
    most_bundles=integer("most-bundles-out-of-range", 2, 10**12),
    admission=word("unknown-admission", "open", "codes"),
    client_files=files,
)


def text_of(data):
    place = data.find(b"\n\n\xe2\x80\x94 ")
    return data if place < 0 else data[: place + 1]


def once(pairs):
    need(len({name for name, _ in pairs}) == len(pairs), "field-twice")
    return dict(pairs)


def strict(constant):
    raise ValueError(constant)


def plain_of(data):
    """The JSON of a text."""
    text = text_of(data)
    need(len(text) <= 2**24 - 2**16, "too-long")
    try:
        return json.loads(text.decode("utf-8"), object_pairs_hook=once, parse_constant=strict)
    except (ValueError, RecursionError):
        raise RefusalError("not-json") from None


def contract_of(data):
    """The contract in ``data``; raises RefusalError."""
    plain = plain_of(data)
    check_version(plain, 5)
    read = CONTRACT(plain)
    hops = read["plan"]["hops"]
    need(len(read["hops"]) >= hops, "more-drawing-mixes-than-hops")
    need(len(read["hops"]) <= hops, "more-hops-than-priced")
    roles = [*read["hops"], read["collector"]]
    for used in (
        [one["name"] for one in roles],
        [one["address"] for one in roles],
        [one["key"].split("+", 2)[2] for one in roles],
    ):
        need(len(set(used)) == len(used), "hop-twice")
    layer = {1: 48, 2: 1136}[read["suite"]]
    wanted = [
        [message_size(one["layout"]) + layer * left for left in range(hops + 1, 0, -1)]
        for one in read["plan"]["parts"]
    ]
    need(read["envelope_bytes"] == wanted, "envelope-bytes")
    users = read["plan"]["users"]
    need(users <= read["most_bundles"] <= 100 * users, "most-bundles-out-of-range")
    rounds = read["rounds"]
    need(rounds["open_seconds"] <= rounds["every_seconds"], "rounds-out-of-range")
    return read

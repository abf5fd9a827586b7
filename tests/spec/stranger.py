"""A second client, written from SPEC.md alone: it shares no line with the package.

It reads every vector and says what it finds: messages, fakes, fingerprints, or a reason.
"""

import hashlib
from itertools import pairwise

from spec.stranger_answers import encode
from spec.stranger_contract import CLEAR, PAIRED, contract_of, text_of
from spec.stranger_forms import RefusalError, message_size, span, told

W = 2**64


class Tape:
    """Words in the order in which they stand; all of them must be used."""

    def __init__(self, hexadecimal):
        data = bytes.fromhex(hexadecimal)
        self.left = [int.from_bytes(data[i : i + 8], "little") for i in range(0, len(data), 8)]
        self.left.reverse()

    def word(self):
        if not self.left:
            raise RefusalError("words ran out")
        return self.left.pop()

    def uniform(self, b):
        if b > 2**63:
            size = 1 << (b - 1).bit_length()
            while (w := (self.word() + W * self.word()) % size) >= b:
                pass
            return w
        limit = W // b * b
        while (w := self.word()) >= limit:
            pass
        return w % b


def say(bins, part, tape):
    """Section 5: the message of a record."""
    if part["replaced"] is not None and tape.word() < part["replaced"]:
        return write({tape.uniform(part["layout"]["bins"])}, part["layout"])
    if part["planes"] is not None:
        bins = {plane(place(*bins, part["bins"], part["planes"]), part["planes"], tape)}
    return flip(bins, part["threshold"], part["layout"], tape)


def flip(bins, threshold, layout, tape):
    """Section 5: the message of a set of bins."""
    if threshold is None:
        return write(bins, layout)
    while True:
        now = {i for i in range(layout["bins"]) if (tape.word() < threshold) != (i in bins)}
        if layout["cap"] is None or len(now) <= layout["cap"]:
            return write(now, layout)


def apart(bins, part, tape):
    """Section 5: a set over planes, of which no message holds two points."""
    over, d, k = part["planes"], part["bins"], part["most_set"]
    points = []
    for b in [*sorted(bins), *range(d, d + k)]:
        x = int(hashlib.sha256(str(b).encode()).hexdigest(), 16) % over["points"]
        x = b if b < d == over["points"] else x
        if x not in points and len(points) < k:
            points.append(x)
    if len(points) < k:
        raise RefusalError("points of a set")
    sent = []
    for x in points:
        if part["replaced"] is not None and tape.word() < part["replaced"]:
            sent.append(write({tape.uniform(over["messages"])}, part["layout"]))
            continue
        met = True
        while met:
            j = tape.uniform(over["directions"])
            named = plane_in(x, over, j)
            met = any(plane_in(y, over, j) == named for y in points if y != x)
        sent.append(write({named}, part["layout"]))
    return sent


def place(x, d, planes):
    """Section 4: the point of a bin of single values."""
    if d > 10**7:
        return x
    s = 1
    while s * s < d:
        s += 1
    y = d
    while y >= d:
        u, v = x % s, x // s
        for r in range(6):
            digest = hashlib.sha256(f"mixtally point {r} {d} {v}".encode()).hexdigest()
            u, v = v, (u + int(digest, 16)) % s
        x = y = v * s + u
    top = planes["prime"] ** (planes["digits"] - 1)
    return y % top + (y // top + (y % planes["prime"]) ** 2) % planes["prime"] * top


def plane(x, planes, tape):
    """Section 4: the plane of a point in a direction that is drawn."""
    return plane_in(x, planes, tape.uniform(planes["directions"]))


def plane_in(x, planes, j):
    """Section 4: the plane of a point in direction number j."""
    p, t = planes["prime"], planes["digits"]
    before, lead = 0, 0
    while j >= before + p ** (t - 1 - lead):
        before, lead = before + p ** (t - 1 - lead), lead + 1
    behind, total = j - before, x // p**lead % p
    for place in range(lead + 1, t):
        total += behind // p ** (t - 1 - place) % p * (x // p**place % p)
    return j * p + total % p


def write(bins, layout):
    """Section 4."""
    size, w = message_size(layout), span(layout["bins"] - 1)
    if layout["form"] == "bits":
        return sum(1 << j for j in bins).to_bytes(size, "little").hex()
    if layout["form"] == "index":
        (one,) = bins
        return one.to_bytes(size, "little").hex()
    front = (span(layout["cap"]) + 7) // 8
    total = len(bins)
    for i, number in enumerate(sorted(bins)):
        total += number << (8 * front + i * w)
    return total.to_bytes(size, "little").hex()


def send(contract, value, prefixes, closing, tape):
    """Sections 3 and 5: coins, messages, order."""
    plan = contract["plan"]
    fakes = []
    for part in plan["parts"]:
        own = part["own"]
        fakes.append(own["whole"] + (tape.word() < own["coin"]) if own else 0)
    out, record = [], encode(plan, value, prefixes, closing, tape)
    for part, bins, many in zip(plan["parts"], record, fakes, strict=True):
        records, most = [bins] * part["repeats"], part["most_set"]
        if part["threshold"] is None and most > 1:
            lacking = most - len(bins)
            cells = [*sorted(bins), *range(part["bins"], part["bins"] + lacking)]
            for i in range(part["slots"] or 0):
                j = i + tape.uniform(most - i)
                cells[i], cells[j] = cells[j], cells[i]
            records = [{cell} for cell in cells[: part["slots"]]]
        over = part["planes"]
        if over is not None and most > 1:
            sent = apart(bins, part, tape)
        else:
            sent = [say(one, part, tape) for one in records]
        for _ in range(many):
            blank = part["own"]["record"] == "blank"
            content = set() if blank else {tape.uniform(part["layout"]["bins"])}
            sent.append(flip(content, part["threshold"], part["layout"], tape))
        out.append(sent)
    for sent in out:
        for i in range(len(sent) - 1, 0, -1):
            j = tape.uniform(i + 1)
            sent[i], sent[j] = sent[j], sent[i]
    return out


def falls(recipe):
    """Section 6: P_1, P_2, .."""
    one = 2**256
    if "ratio" in recipe:
        p = one
        while True:
            p = p * int(recipe["ratio"]) // W
            yield p
    term, series, k = one, 0, 0
    while term:
        series, k = series + term, k + 1
        term //= 2 * recipe["variance"] * k
    g = one**2 // series
    h, p = g * g // one, one
    while True:
        p = p * g // one
        yield p
        g = g * h // one


def shape(recipe):
    """Section 6."""
    powers, shift = [2**256], recipe["shift"]
    most = shift if recipe["type"] in PAIRED else 10**5
    for p in falls(recipe):
        if p < 2**192 or len(powers) > most:
            break
        powers.append(p)
    total = sum(powers) + sum(powers[1 : shift + 1])
    table = [0] * (shift + len(powers))
    for k in range(1, len(powers)):
        table[shift + k] = powers[k] * W // total
        if k <= shift:
            table[shift - k] = table[shift + k]
    table[shift] = W - sum(table)
    if recipe["type"] in PAIRED:
        return table + [0] * (2 * shift + 1 - len(table))
    while not table[-1]:
        table.pop()
    return table


def most_fakes(recipe, layout):
    """Section 17: the most messages that a hop adds to a part."""
    if recipe["type"] in CLEAR:
        return (len(shape(recipe)) - 1) * (1 if recipe["type"] in PAIRED else layout["bins"])
    return recipe.get("count", 0)


def delta(table, epsilon, paired=False):
    """Section 8, every pair."""
    u, v = epsilon.as_integer_ratio()
    term, growth, k = 2**128, 0, 0
    while term:
        growth, k = growth + term, k + 1
        term = term * u // (v * k)
    edge = [0, *table, 0]
    if paired:
        steps = list(pairwise(edge))
        rises = sum(max(0, 2**128 * one - growth * other) for one, other in steps)
        falls = sum(max(0, 2**128 * other - growth * one) for one, other in steps)
        return max(rises, falls), 2**192
    total = 0
    for s in range(1, len(edge)):
        for t in range(1, len(edge)):
            gain = 2**128 * edge[s - 1] * edge[t] - growth * edge[s] * edge[t - 1]
            total += max(0, gain)
    return total, 2**256


def hop(recipe, layout, tape):
    """Section 6: what a hop adds."""
    if recipe["type"] == "none":
        return []
    if recipe["type"] == "blanks":
        many = range(recipe["count"])
        return [flip(set(), int(recipe["threshold"]), layout, tape) for _ in many]
    if recipe["type"] == "uniform":
        return [write({tape.uniform(layout["bins"])}, layout) for _ in range(recipe["count"])]
    table, out = shape(recipe), []
    if recipe["type"] in PAIRED:
        word = tape.word()
        first = sum(sum(table[: k + 1]) <= word for k in range(len(table)))
        second = 2 * recipe["shift"] - first
        return [write({0}, layout)] * first + [write({1}, layout)] * second
    for place in range(layout["bins"]):
        word, so_far = tape.word(), 0
        for weight in table:
            so_far += weight
            out += [write({place}, layout)] * (so_far <= word)
    return out


def allowed(contract, limits):
    """Section 8."""
    plan = contract["plan"]
    local, most = plan["local_epsilon"], limits["local_epsilon"]
    promised = plan["guarantee"]
    if (
        promised["epsilon"] > limits["epsilon"]
        or promised["delta"] > limits["delta"]
        or (most is not None and (local is None or local > most))
    ):
        raise RefusalError("above-own-limit")
    if plan["hops"] < limits["hops"]:
        raise RefusalError("too-few-hops")
    if any(protocol(part) not in limits["protocols"] for part in plan["parts"]):
        raise RefusalError("protocol-not-allowed")
    if plan["cover"] not in limits["covers"]:
        raise RefusalError("cover-not-allowed")
    recipe = plan["parts"][0]["recipe"]
    if len(plan["parts"]) == plan["collections"] == 1 and recipe["type"] in CLEAR:
        paired = recipe["type"] in PAIRED
        total, of = delta(shape(recipe), float(promised["epsilon"]), paired)
        stated, scale = float(plan["certificate"]["upper"]).as_integer_ratio()
        if stated * of < total * scale:
            raise RefusalError("promise-false")


def protocol(part):
    """Section 7, the last paragraph."""
    own = part["own"]
    if part["replaced"] is not None:
        return "kary-response"
    if part["threshold"] is None:
        return "clear-shaped" if part["recipe"]["type"] in CLEAR else "clear-uniform"
    if own and own["record"] == "uniform":
        return "flip-uniform"
    if part["bins"] == 1 and part["most_set"] is None:
        return "single-bit"
    return "flip-blank" if own or part["recipe"]["type"] == "blanks" else "flip"


@told
def found(vector):
    """What this program finds for a vector, in the words of the vector."""
    what = vector["what"]
    if what == "fingerprint":
        text = text_of(vector["file"].encode())
        return {"fingerprint": hashlib.sha256(text).hexdigest()}
    if what == "shape":
        table = shape(vector["recipe"])
        total, of = delta(table, vector["epsilon"], vector["recipe"]["type"] in PAIRED)
        written = [str(one) if one > 2**53 else one for one in table]
        return {"weights": written, "delta": f"{total / of:.9g}"}
    tape = Tape(vector.get("words", ""))
    if what == "recipe":
        fakes = hop(vector["recipe"], vector["layout"], tape)
        return {"fakes": fakes, "unused": len(tape.left)}
    data = bytes.fromhex(vector["contract_hex"]) if "contract_hex" in vector else None
    contract = contract_of(vector["contract"].encode() if data is None else data)
    if "limits" in vector:
        allowed(contract, vector["limits"])
    if "value" in vector:
        value = vector["value"]
        value = float(value["double"]) if isinstance(value, dict) else value
        sent = send(contract, value, vector["prefixes"], vector["closing"], tape)
        return {"messages": sent, "unused": len(tape.left)}
    return {}

"""Section 3 of SPEC.md: from a value to the bins of every part, as sets."""

import hashlib
import hmac
import sys
import unicodedata
from fractions import Fraction

from spec.stranger_forms import RefusalError


def encode(plan, value, prefixes, closing, tape):
    """Section 3: a set of bins for each part."""
    question, parts = plan["question"], plan["parts"]
    if plan["prefixes"] is not None:
        return [{word_bin(plan, value, prefixes, closing)}]
    if prefixes is not None or closing:
        raise RefusalError("prefixes-not-asked")
    if value is None and question["kind"] == "set" and question["attributes"] is None:
        value = []
    if value is None:
        raise RefusalError("no-answer")
    if plan["edges"] is not None:
        return [{cut(plan["edges"], double(value))}]
    if plan["grid"] is not None:
        return [{rounded(plan["grid"], double(value), tape)}]
    if question["hashed"] is not None and question["kind"] == "one":
        return [{hashed(question, characters(value))}]
    if question["kind"] == "bits":
        return bits(question, parts, value)
    if question["attributes"] is not None:
        return attributes(question, parts, value)
    if question["kind"] == "one":
        return [{name(value, question["labels"], question["bins"])}]
    if not isinstance(value, list):
        raise RefusalError("not-a-list")
    if question["hashed"] is not None:
        members = [characters(one) for one in value]
    else:
        members = [name(one, question["labels"], question["bins"]) for one in value]
    if len(set(members)) != len(members):
        raise RefusalError("member-twice")
    if len(members) > question["max_set"]:
        raise RefusalError("too-many-members")
    if question["hashed"] is not None:
        members = [hashed(question, one) for one in members]
    return [set(members)]


def hashed(question, text):
    key = bytes.fromhex(question["hashed"]["seed"])
    x = int(hmac.new(key, text.encode(), hashlib.sha256).hexdigest(), 16)
    return x % question["bins"]


def name(value, labels, bins):
    if labels is not None:
        labels = [unicodedata.normalize("NFC", label) for label in labels]
        form = unicodedata.normalize("NFC", value) if isinstance(value, str) else value
        if not isinstance(value, str) or form not in labels:
            raise RefusalError("value-outside-labels")
        return labels.index(form)
    if isinstance(value, bool) or not isinstance(value, int) or value not in range(bins):
        raise RefusalError("value-outside-bins")
    return value


def double(value):
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RefusalError("not-a-number")
    if not abs(value) <= sys.float_info.max:
        raise RefusalError("not-finite")
    return float(value)


def cut(edges, value):
    below = [i for i, edge in enumerate(edges) if edge <= value]
    return min(max([0, *below]), len(edges) - 2)


def rounded(grid, value, tape):
    low, high, y = (Fraction(one) for one in (grid["low"], grid["high"], value))
    steps = grid["points"] - 1
    t = (min(max(y, low), high) - low) / (high - low) * steps
    i = t.numerator // t.denominator
    return i + 1 if tape.word() < (t - i) * 2**64 // 1 else i


def characters(value):
    if not isinstance(value, str):
        raise RefusalError("not-text")
    if not value:
        raise RefusalError("empty-text")
    if any(0xD800 <= ord(one) <= 0xDFFF for one in value):
        raise RefusalError("half-character")
    return unicodedata.normalize("NFC", value)


def bits(question, parts, value):
    if not isinstance(value, list):
        raise RefusalError("not-a-list")
    if any(isinstance(bit, bool) or bit not in (0, 1) for bit in value):
        raise RefusalError("not-a-bit")
    if len(value) != question["bins"]:
        raise RefusalError("bits-miscounted")
    if len(parts) == 1 and parts[0]["most_set"] is None:
        return [{i for i, bit in enumerate(value) if bit}]
    if parts[0]["most_set"] is None:
        return [{0} if bit else set() for bit in value]
    if parts[0]["slots"] is not None:
        return [{2 * i + bit for i, bit in enumerate(value)}]
    return [{bit} for bit in value]


def attributes(question, parts, value):
    sizes, labels = question["attributes"], question["labels"]
    if not isinstance(value, list):
        raise RefusalError("not-a-list")
    if len(value) != len(sizes):
        raise RefusalError("attributes-miscounted")
    before, inner, outer = 0, [], set()
    for size, one in zip(sizes, value, strict=True):
        own = None if labels is None else labels[before : before + size]
        inner.append({name(one, own, size)})
        outer |= {before + place for place in inner[-1]}
        before += size
    return inner if len(parts) > 1 else [outer]


def word_bin(plan, value, prefixes, closing):
    asked = plan["prefixes"]
    letters, most = asked["alphabet"], asked["most"]
    base, last = len(letters), plan["question"]["bins"] - 1
    if value is not None:
        value = characters(value)
    prefixes = [[]] if prefixes is None else prefixes
    if not 1 <= len(prefixes) <= most:
        raise RefusalError("prefixes-miscounted")
    p = len(prefixes[0])
    if {len(one) for one in prefixes} != {p} or p >= asked["longest"]:
        raise RefusalError("prefix-length")
    symbols = [symbol for one in prefixes for symbol in one]
    if any(symbol is True or symbol not in range(1, base + 2) for symbol in symbols):
        raise RefusalError("prefix-symbol")
    if any(prefixes.count(one) > 1 for one in prefixes):
        raise RefusalError("prefix-twice")
    if value is None:
        return last
    n = min(n for n in range(1, 30) if base**n >= 1_114_112)
    symbols = []
    for letter in value:
        if letter in letters:
            symbols.append(letters.index(letter) + 1)
            continue
        symbols.append(base + 1)
        symbols += [ord(letter) // base ** (n - 1 - k) % base + 1 for k in range(n)]
    asked_for = asked["symbols"]
    symbols += [0] * (p + asked_for + 1)
    if symbols[:p] not in prefixes or (closing and symbols[p + asked_for] != 0):
        return last
    total = prefixes.index(symbols[:p])
    for one in symbols[p : p + asked_for]:
        total = total * (base + 2) + one
    return total

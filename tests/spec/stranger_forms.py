"""What a field may be, as functions from JSON to its value: the conventions of SPEC.md."""

import math
import re
from functools import wraps


class RefusalError(Exception):
    """A refusal; its text is the reason."""


def told(find):
    """What ``find`` finds, or the reason why it refuses, in the words of a vector."""

    @wraps(find)
    def found(vector):
        try:
            return find(vector)
        except RefusalError as no:
            return {"reason": str(no)}

    return found


def span(x):
    """bits(x)."""
    return len(f"{x:b}") if x else 0


def message_size(layout):
    """Section 4: bytes of a message."""
    w = span(layout["bins"] - 1)
    if layout["form"] == "bits":
        return (layout["bins"] + 7) // 8
    if layout["form"] == "index":
        return (w + 7) // 8
    return (span(layout["cap"]) + 7) // 8 + (layout["cap"] * w + 7) // 8


def need(right, reason):
    if not right:
        raise RefusalError(reason)


def integer(reason, least=-math.inf, most=math.inf):
    def read(value):
        if isinstance(value, str) and re.fullmatch("-?[0-9]+", value):
            large = abs(int(value)) > 2**53 and str(int(value)) == value
            need(large, "integer-as-string")
            value = int(value)
        else:
            need(isinstance(value, int) and not isinstance(value, bool), "wrong-type")
            need(abs(value) <= 2**53, "integer-as-number")
        need(least <= value <= most, reason)
        return value

    return read


def number(reason, least=-math.inf, most=math.inf):
    def read(value):
        need(isinstance(value, int | float) and not isinstance(value, bool), "wrong-type")
        need(float(value) == value, "wrong-type")
        need(least <= value <= most and math.isfinite(value), reason)
        return float(value)

    return read


def string(reason="", pattern=r"(?s).*"):
    def read(value):
        need(isinstance(value, str), "wrong-type")
        need(re.fullmatch(pattern, value), reason)
        return value

    return read


def word(reason, *among):
    def read(value):
        need(isinstance(value, str), "wrong-type")
        need(value in among, reason)
        return value

    return read


def maybe(read):
    return lambda value: None if value is None else read(value)


def several(read):
    def all_of(value):
        need(isinstance(value, list), "wrong-type")
        return [read(one) for one in value]

    return all_of


def fields(**readers):
    def read(value):
        need(isinstance(value, dict), "wrong-type")
        need(readers.keys() <= value.keys(), "field-missing")
        need(value.keys() <= readers.keys(), "field-unknown")
        return {name: one(value[name]) for name, one in readers.items()}

    return read


def flag(value):
    need(isinstance(value, bool), "wrong-type")
    return value


def check_version(value, mine):
    """What is read first: another version may have other fields."""
    if isinstance(value, dict) and "version" in value:
        integer("unknown-version", mine, mine)(value["version"])

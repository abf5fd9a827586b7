"""Texts that spreadsheets compute, and CSV read back as it was meant."""

import re

_FIRST = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")


def computed(cell):
    """Whether a spreadsheet computes a cell: a number is what it is anyway."""
    number = re.fullmatch(r"[+-]?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?", cell, re.IGNORECASE)
    return not number and (cell.startswith(_FIRST[4:7]) or cell.lstrip().startswith(_FIRST))


def read_back(cell):
    """The text that was written as ``cell``."""
    held = cell.removeprefix("'")
    bare = held.lstrip("'")
    alive = bare.startswith(_FIRST[4:7]) or re.match(r"['\s]*[=+\-@\uff0b\uff0d\uff1d\uff20]", held)
    return held if cell != held and alive else cell

"""A file that is signed as it is: a text, and below it the lines of its signatures.

What is named, hashed and signed is the text, whatever signatures stand below. Nobody writes it
again: two spellings of one record are two texts.

Source: C2SP signed-note: the text ends with a newline, an empty line follows, and then lines that
begin with an em dash and a space.
"""

import hashlib

_BETWEEN = "\n\n\u2014 ".encode()


def text_of(data: bytes) -> bytes:
    """The text that is signed: ``data`` without its signature lines."""
    text, between, _ = data.partition(_BETWEEN)
    return text + b"\n" if between else data


def fingerprint_of(data: bytes) -> str:
    """SHA-256 of the text, 64 hexadecimal digits; signatures change nothing."""
    return hashlib.sha256(text_of(data)).hexdigest()

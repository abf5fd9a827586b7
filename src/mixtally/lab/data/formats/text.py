"""Text of a data file, decoded and checked, as UTF-8.

The encoding is the one that the user states, else that of a byte order mark, else UTF-8.
``tables`` decodes every text format with `decode_chunks`; ``csv_table`` and ``json_table`` use the
other functions.
"""

import codecs
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from mixtally.errors import DataError
from mixtally.lab.data.file import DataFile
from mixtally.lab.data.formats.source import HEAD

_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_USUAL = "utf-8"
_ENDS = b"\r\n"


def decode_chunks(file: DataFile, stream: BinaryIO, size: int = HEAD) -> Iterator[bytes]:
    """Yield ``stream`` as UTF-8 without a byte order mark, about ``size`` bytes at a time.

    Raises DataError for bytes that are not text.
    """
    data = stream.read(size)
    marked = next((name for mark, name in _MARKS.items() if data.startswith(mark)), None)
    encoding = file.encoding or marked or _USUAL
    decoder = codecs.getincrementaldecoder(encoding)()
    begun, lines = False, 0
    while data:
        try:
            # ASCII needs no decoding, unless the previous chunk ended inside of a character.
            if encoding == _USUAL and data.isascii() and decoder.getstate() == (b"", 0):
                found = data
            else:
                found = decoder.decode(data).encode("utf-8")
        except UnicodeError as error:
            raise _decoding_error(file, encoding, error, lines) from error
        if b"\0" in found:
            raise _not_text_error(file, data)
        if not begun:
            # Decoders with an explicit byte order keep the byte order mark. If a first short read
            # decodes to no text, the mark is still to come.
            found = found.removeprefix(codecs.BOM_UTF8)
            begun = bool(found)
        if found:
            yield found
        lines += found.count(b"\n")
        data = stream.read(size)
    try:
        decoder.decode(b"", final=True)
    except UnicodeError as error:
        raise _decoding_error(file, encoding, error, lines) from error


def trim_end(file: DataFile, parts: Iterator[bytes], delimiter: str = "") -> Iterator[bytes]:
    """Yield the text with exactly one line end at its end.

    Blank lines at the end are left out. So are lines of nothing but ``delimiter``, which
    spreadsheets write for rows below the last one.
    """
    pending, blank = b"", _ENDS + delimiter.encode("ascii")
    for part in parts:
        # White space at the end of a part is kept back until a later part has text. If none has,
        # it is at the end of the file.
        body = part.rstrip(blank)
        if body:
            yield pending + body if pending else body
            pending = part[len(body) :]
        else:
            pending += part
        if len(pending) > file.block:
            raise long_row_error(file)
    last, *_ = pending.splitlines() or [b""]  # the last row may end with empty cells
    yield last + b"\n"


def check_quotes(
    file: DataFile, parts: Iterator[bytes], delimiter: str, lines: int = 1
) -> Iterator[bytes]:
    """Yield the CSV unchanged; raise DataError for a quote that neither opens nor closes a cell.

    Quotes alternately open and close a cell, and a doubled quote closes and opens again. So a stray
    quote would join all rows up to the next quote. ``lines`` is the line number at which the CSV
    begins, for the error.
    """
    outside = np.zeros(256, dtype=np.bool_)
    outside[[ord(delimiter), *_ENDS, ord('"')]] = True
    before, closing, opened = ord("\n"), False, 0
    for part in parts:
        data = np.frombuffer(part, dtype=np.uint8)
        places = np.flatnonzero(data == ord('"'))
        if len(places) or closing:
            # Outside of the cell is the character before an opening quote, or after a closing one.
            closes = (np.arange(len(places)) + (opened > 0)) % 2 == 1
            around = np.concatenate(([before], data, [ord("\n")]))
            wrong = places[~outside[around[np.where(closes, places + 2, places)]]]
            if closing and not outside[data[0]]:
                wrong = np.array([0])
            if len(wrong):
                raise _stray_quote_error(file, lines + part.count(b"\n", 0, int(wrong[0])))
            if (len(places) + (opened > 0)) % 2 == 0:
                opened = 0
            elif len(places):
                opened = lines + part.count(b"\n", 0, int(places[-1]))
        before, lines = int(data[-1]), lines + part.count(b"\n")
        closing = before == ord('"') and not opened
        yield part
    if opened:
        raise file.unreadable(
            "a quote that ends the cell",
            f"none after the quote in line {opened:,}",
            "close the quote, or double it if it is inside of a cell",
        )


def _stray_quote_error(file: DataFile, line: int) -> DataError:
    return file.unreadable(
        "quotes around whole cells",
        f"a quote inside of a cell, in line {line:,}",
        "put the whole cell in quotes and double the quotes inside",
    )


def long_row_error(file: DataFile) -> DataError:
    """Return the error for a row that is longer than a block."""
    return file.unreadable(
        f"rows of less than {file.block:,} bytes",
        "a longer row",
        "check that the file is text with one row per line",
    )


def _decoding_error(file: DataFile, encoding: str, error: UnicodeError, lines: int) -> DataError:
    if encoding != _USUAL or not isinstance(error, UnicodeDecodeError):
        mark = "" if file.encoding else ", as its mark says"
        return file.unreadable(f"text in {encoding}{mark}", error, "name another with --encoding")
    line = lines + error.object[: error.start].count(b"\n") + 1
    return file.unreadable(
        "UTF-8 text",
        f"byte 0x{error.object[error.start]:02x} in line {line:,}",
        f"say how it is encoded: --encoding {_guess_encoding(error.object)}, most likely",
    )


def _not_text_error(file: DataFile, data: bytes) -> DataError:
    return file.unreadable(
        "text, or a Parquet or Excel file",
        "zero bytes",
        f"say --encoding {_guess_encoding(data)} if it is UTF-16, and otherwise convert it",
    )


def _guess_encoding(data: bytes) -> str:
    """Return UTF-16 if there are zero bytes, otherwise a western encoding that fits ``data``."""
    if b"\0" in data:
        # In western text the high byte of each UTF-16 unit is zero. If the low byte comes first,
        # the high bytes are the bytes 1, 3, 5, ..
        return "utf-16-le" if data[1::2].count(0) >= data[::2].count(0) else "utf-16-be"
    try:
        data.decode("cp1252")
    except UnicodeDecodeError:
        return "latin-1"
    return "cp1252"

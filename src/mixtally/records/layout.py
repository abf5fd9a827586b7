"""How a message is written: one fixed number of bytes, the same for every value and every fake."""

from enum import StrEnum

import msgspec
import numpy as np
from numpy.typing import NDArray

from mixtally.errors import MessageError
from mixtally.ground import bits


class Form(StrEnum):
    """The two forms of a message."""

    BITS = "bits"
    """One bit a bin, packed."""
    INDEX = "index"
    """The number of the bin, little-endian."""


class Layout(msgspec.Struct, frozen=True):
    """The form and size of every message of a plan."""

    form: Form
    bins: int

    @property
    def message_bytes(self) -> int:
        """Bytes in a message."""
        if self.form is Form.BITS:
            return bits.row_bytes(self.bins)
        return bits.row_bytes((self.bins - 1).bit_length())

    def rows(self, codes: NDArray[np.int64]) -> bits.Rows:
        """One message a code, its one bit set or its number written, shape (codes, bytes)."""
        if self.form is Form.BITS:
            return bits.one_hot(codes, self.bins)
        wide = codes.astype("<u8").view(np.uint8).reshape(-1, 8)
        return np.ascontiguousarray(wide[:, : self.message_bytes])

    def blank(self, count: int) -> bits.Rows:
        """``count`` messages with no bit set, shape (count, bytes)."""
        return np.zeros((count, self.message_bytes), dtype=np.uint8)

    def codes(self, rows: bits.Rows) -> NDArray[np.int64]:
        """The bin numbers written in ``rows``; only for the form ``index``."""
        wide = np.zeros((len(rows), 8), dtype=np.uint8)
        wide[:, : self.message_bytes] = rows
        return wide.view("<i8").reshape(-1).astype(np.int64, copy=False)

    def read(self, messages: list[bytes]) -> bits.Rows:
        """Messages as rows; raises MessageError for one of the wrong length or form."""
        for number, message in enumerate(messages):
            if len(message) != self.message_bytes:
                raise self._refusal(number, f"{len(message)} bytes")
        rows = np.frombuffer(b"".join(messages), dtype=np.uint8)
        return self.checked(rows.reshape(len(messages), self.message_bytes))

    def checked(self, rows: bits.Rows) -> bits.Rows:
        """``rows`` itself; raises MessageError for a wrong width or a bin that does not exist."""
        if rows.ndim != 2 or rows.shape[1] != self.message_bytes:
            raise self._refusal(0, f"an array of shape {rows.shape}")
        if self.form is Form.BITS:
            offender = bits.first_row_with_padding(rows, self.bins)
        else:
            offenders = np.flatnonzero(self.codes(rows) >= self.bins)
            offender = int(offenders[0]) if offenders.size else None
        if offender is not None:
            raise self._refusal(offender, f"a bin past the last, {bytes(rows[offender]).hex()}")
        return rows

    def _refusal(self, number: int, got: str) -> MessageError:
        return MessageError(
            f"message {number}",
            wanted=f"{self.message_bytes} bytes naming bins 0..{self.bins - 1} ({self.form} form)",
            got=got,
            do="drop it, and check that sender and collector hold the same plan fingerprint",
        )

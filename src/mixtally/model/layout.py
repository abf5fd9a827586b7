"""How a message is written: one fixed number of bytes, the same for every value and every fake.

bits        one bit a bin, bin j in bit j % 8, counted from the least, of byte j // 8
index       the number of the one bin, little-endian, in as many bytes as the last bin takes
positions   the numbers of the bins whose bit is set, strictly ascending, behind how many they
            are: that in one or two bytes, little-endian; then so many bits for each as the last
            bin takes, from the least bit of a byte on; what is left over of the cap is zero
"""

from enum import StrEnum

import msgspec
import numpy as np
from numpy.typing import NDArray

from mixtally.errors import MessageError, ParameterError
from mixtally.primitives import bits
from mixtally.primitives.positions import Slots, pack_positions, read_slots, unpack_positions

MOST_CAP = 0xFFFF


class Form(StrEnum):
    """The forms of a message."""

    BITS = "bits"
    """One bit a bin, packed."""
    INDEX = "index"
    """The number of the bin, little-endian."""
    POSITIONS = "positions"
    """The numbers of the bins whose bit is set: short where few are."""


class Layout(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The form and size of every message of a plan.

    where
      cap   the most bins that a message names, a draw with more being drawn again; None for any
            number, which only the form ``bits`` can hold

    Raises ParameterError for a cap outside [1, bins], or above 65,535 in the form ``positions``.
    """

    form: Form
    bins: int
    cap: int | None = None

    def __post_init__(self) -> None:
        if self.form is not Form.POSITIONS and self.cap is None:
            return
        most = min(self.bins, MOST_CAP) if self.form is Form.POSITIONS else self.bins
        if self.form is Form.INDEX or self.cap is None or not 1 <= self.cap <= most:
            raise ParameterError(
                "cap",
                expected="none: one bin is named"
                if self.form is Form.INDEX
                else f"an integer in [1, {most:,}]",
                got=self.cap,
                do="it is the most bins that a message names",
            )

    @property
    def message_bytes(self) -> int:
        """Bytes in a message."""
        if self.form is Form.BITS:
            return bits.row_bytes(self.bins)
        if self.form is Form.INDEX:
            return bits.row_bytes(self.position_bits)
        return self.count_bytes + bits.row_bytes((self.cap or 0) * self.position_bits)

    @property
    def position_bits(self) -> int:
        """Bits in which every bin's number can be written."""
        return (self.bins - 1).bit_length()

    @property
    def count_bytes(self) -> int:
        """Bytes in which a message of the form ``positions`` says how many it names."""
        return bits.row_bytes((self.cap or 0).bit_length())

    def rows(self, codes: NDArray[np.int64]) -> bits.Rows:
        """One message a code, its one bit set or its number written, shape (codes, bytes)."""
        if self.form is Form.BITS:
            return bits.one_hot_rows(codes, self.bins)
        if self.form is Form.POSITIONS:
            return self.write_positions(np.arange(len(codes)), codes, len(codes))
        wide = codes.astype("<u8").view(np.uint8).reshape(-1, 8)
        return np.ascontiguousarray(wide[:, : self.message_bytes])

    def blank_rows(self, count: int) -> bits.Rows:
        """``count`` messages with no bit set, shape (count, bytes)."""
        return np.zeros((count, self.message_bytes), dtype=np.uint8)

    def write_positions(
        self, messages: NDArray[np.int64], bins: NDArray[np.int64], count: int
    ) -> bits.Rows:
        """``count`` messages of the form ``positions``, message messages[i] naming bins[i].

        Ordered by message and then by bin; no message names more than the cap.
        """
        return pack_positions(
            messages, bins, count, self.cap or 0, self.position_bits, self.count_bytes
        )

    def codes(self, rows: bits.Rows) -> NDArray[np.int64]:
        """The bin numbers written in ``rows``; only for the form ``index``."""
        wide = np.zeros((len(rows), 8), dtype=np.uint8)
        wide[:, : self.message_bytes] = rows
        return wide.view("<i8").reshape(-1).astype(np.int64, copy=False)

    def positions(self, rows: bits.Rows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How many bins each of ``rows`` names, and which, one row after the other.

        Only for the form ``positions``; a number above the cap is read as the cap.
        """
        return unpack_positions(rows, self.cap or 0, self.position_bits, self.count_bytes)

    def to_packed_bits(self, rows: bits.Rows) -> bits.Rows:
        """``rows`` with one bit a bin, packed; not for the form ``index``."""
        if self.form is Form.BITS:
            return rows
        many, named = self.positions(rows)
        out = np.zeros((len(rows), bits.row_bytes(self.bins)), dtype=np.uint8)
        row = np.repeat(np.arange(len(rows)), many)
        np.bitwise_or.at(out, (row, named >> 3), (1 << (named & 7)).astype(np.uint8))
        return out

    def slots(self, rows: bits.Rows) -> Slots:
        """What every slot of ``rows`` holds; only for the form ``positions``."""
        return read_slots(rows, self.cap or 0, self.position_bits, self.count_bytes)

    def parse_messages(self, messages: list[bytes]) -> bits.Rows:
        """Messages as rows; raises MessageError for one of the wrong length or form."""
        for number, message in enumerate(messages):
            if len(message) != self.message_bytes:
                raise self._refusal(number, f"{len(message)} bytes")
        rows = np.frombuffer(b"".join(messages), dtype=np.uint8)
        return self.check_rows(rows.reshape(len(messages), self.message_bytes))

    def check_rows(self, rows: bits.Rows) -> bits.Rows:
        """``rows`` themselves; raises MessageError for a wrong width or an impossible row."""
        self._check_width(rows)
        self._check_faults(rows, _faults(self, rows))
        return rows

    def read_bins(self, rows: bits.Rows) -> NDArray[np.int64]:
        """The bins that ``rows`` name, in no order; not for the form ``bits``.

        Raises as ``checked``: what is read for that is not read again.
        """
        self._check_width(rows)
        if self.form is Form.INDEX:
            codes = self.codes(rows)
            self._check_faults(rows, _faults_of_codes(self, codes))
            return codes
        read = self.slots(rows)
        self._check_faults(rows, _faults_of_positions(self, rows, read))
        return read.numbers[read.occupied].astype(np.int64)

    def _check_width(self, rows: bits.Rows) -> None:
        if rows.ndim != 2 or rows.shape[1] != self.message_bytes:
            raise self._refusal(0, f"an array of shape {rows.shape}")

    def _check_faults(self, rows: bits.Rows, faults: "Faults") -> None:
        first: tuple[int, str] | None = None
        for reason, wrong in faults.items():
            offenders = np.flatnonzero(wrong)
            if offenders.size and (first is None or offenders[0] < first[0]):
                first = int(offenders[0]), reason.value
        if first is not None:
            row, why = first
            raise self._refusal(row, f"{why}, {bytes(rows[row]).hex()[:40]}")

    def faults(self, rows: bits.Rows) -> dict[str, NDArray[np.bool_]]:
        """Reason -> which of ``rows`` are impossible for it; every row has at most one reason."""
        return {reason.value: wrong for reason, wrong in _faults(self, rows).items()}

    def _refusal(self, number: int, got: str) -> MessageError:
        return MessageError(
            f"message {number}",
            expected=f"{self.message_bytes} bytes naming bins 0..{self.bins - 1} ({self.form} "
            f"form)",
            got=got,
            do="drop it, and check that sender and collector hold the same plan fingerprint",
        )


class Fault(StrEnum):
    """Why no honest device wrote a message."""

    PAST_THE_LAST = "a bin past the last"
    TOO_MANY = "more bins than the cap"
    UNORDERED = "bins that do not ascend"
    NOT_ZERO = "something where nothing stands"


Faults = dict[Fault, NDArray[np.bool_]]


def _faults(layout: Layout, rows: bits.Rows) -> Faults:
    if layout.form is Form.INDEX:
        return _faults_of_codes(layout, layout.codes(rows))
    if layout.form is Form.BITS:
        past = bits.rows_with_padding(rows, layout.bins)
        found = {Fault.PAST_THE_LAST: past}
        if layout.cap is not None and layout.cap < layout.bins:
            set_bits = np.bitwise_count(rows).sum(axis=1, dtype=np.int64)
            found[Fault.TOO_MANY] = ~past & (set_bits > layout.cap)
        return found
    return _faults_of_positions(layout, rows, layout.slots(rows))


def _faults_of_codes(layout: Layout, codes: NDArray[np.int64]) -> Faults:
    return {Fault.PAST_THE_LAST: (codes < 0) | (codes >= layout.bins)}  # eight bytes have a sign


def _faults_of_positions(layout: Layout, rows: bits.Rows, read: Slots) -> Faults:
    stated = rows[:, 0].astype(np.int64)
    if layout.count_bytes == 2:
        stated |= rows[:, 1].astype(np.int64) << 8
    _, numbers, held = read
    too_many = stated > (layout.cap or 0)
    past = ((numbers >= layout.bins) & held).any(axis=0) & ~too_many
    falls = ((numbers[1:] <= numbers[:-1]) & held[1:]).any(axis=0)
    unordered = falls & ~too_many & ~past
    # What is not taken for a position must be zero.
    marked = ((numbers != 0) & ~held).any(axis=0)
    marked |= bits.rows_with_padding(rows, _last_bit(layout))
    not_zero = marked & ~(too_many | past | unordered)
    return {
        Fault.TOO_MANY: too_many,
        Fault.PAST_THE_LAST: past,
        Fault.UNORDERED: unordered,
        Fault.NOT_ZERO: not_zero,
    }


def _last_bit(layout: Layout) -> int:
    """Bits of a message of the form ``positions`` that its slots can fill."""
    return 8 * layout.count_bytes + (layout.cap or 0) * layout.position_bits

"""Message formats: every message has a fixed number of bytes, equal for every value and every fake.

A fake is a dummy message that carries no answer. The three formats are:

bits        One bit per bin. Bin j is bit j % 8 of byte j // 8, from the least significant bit.
index       The number of one bin, little-endian, in the bytes that the last bin needs.
positions   The numbers of the set bins, strictly ascending. The message begins with the count of
            these numbers, in one or two bytes, little-endian. Each number takes as many bits as
            the number of the last bin needs, from the least significant bit of a byte on. The
            space for further numbers, up to the cap, is zero.
"""

from enum import StrEnum
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from mixtally.errors import MessageError, ParameterError, pluralize
from mixtally.primitives import bits, wide
from mixtally.primitives.positions import Slots, pack_positions, read_slots, unpack_positions

MOST_CAP = 0xFFFF


class Form(StrEnum):
    """The format of a message."""

    BITS = "bits"
    """One bit per bin, packed."""
    INDEX = "index"
    """The number of one bin, little-endian."""
    POSITIONS = "positions"
    """The numbers of the set bins. The message is short if the cap is small."""


class Layout(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The format and size of every message of a part.

    Raises ParameterError for a cap outside [1, bins], or above 65,535 in the form ``positions``.

    Attributes
    ----------
    bins : int
        The number of bins that a message can name.
    cap : int or None
        The maximum number of bins that a message names. If a device draws a message that names
        more, it draws again. None means no limit, which is possible only in the form ``bits``.
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
                expected="no cap, because one bin is named"
                if self.form is Form.INDEX
                else f"an integer in [1, {most:,}]",
                got=self.cap,
                do="it is the maximum number of bins that a message names",
            )

    @property
    def message_bytes(self) -> int:
        """The length of a message in bytes."""
        if self.form is Form.BITS:
            return bits.row_bytes(self.bins)
        if self.form is Form.INDEX:
            return bits.row_bytes(self.position_bits)
        return self.count_bytes + bits.row_bytes((self.cap or 0) * self.position_bits)

    @property
    def position_bits(self) -> int:
        """The number of bits that are needed for the number of any bin."""
        return (self.bins - 1).bit_length()

    @property
    def count_bytes(self) -> int:
        """The number of bytes that store the number of named bins, in the form ``positions``."""
        return bits.row_bytes((self.cap or 0).bit_length())

    @property
    def code_type(self) -> np.dtype[Any]:
        """The type of arrays of bin numbers."""
        return wide.number_type(self.bins)

    def rows(self, codes: wide.Numbers) -> bits.Rows:
        """Return one message per code, which names only this bin, shape (codes, bytes)."""
        if self.form is Form.BITS:
            return bits.one_hot_rows(codes, self.bins)
        if self.form is Form.POSITIONS:
            return self.write_positions(np.arange(len(codes)), codes, len(codes))
        if wide.is_wide(codes):
            return wide.to_little_endian(codes, self.message_bytes)
        every = codes.astype("<u8").view(np.uint8).reshape(-1, 8)
        return np.ascontiguousarray(every[:, : self.message_bytes])

    def blank_rows(self, count: int) -> bits.Rows:
        """Return ``count`` messages with no bit set, shape (count, bytes)."""
        return np.zeros((count, self.message_bytes), dtype=np.uint8)

    def write_positions(
        self, messages: NDArray[np.int64], bins: NDArray[np.int64], count: int
    ) -> bits.Rows:
        """Return ``count`` messages of the form ``positions``, where messages[i] names bins[i].

        The pairs are ordered by message and then by bin. No message names more bins than the cap.
        """
        return pack_positions(
            messages, bins, count, self.cap or 0, self.position_bits, self.count_bytes
        )

    def codes(self, rows: bits.Rows) -> wide.Numbers:
        """Return the bin numbers in ``rows``, for the form ``index`` only."""
        if self.bins > wide.MOST_NARROW:
            return wide.from_little_endian(rows)
        every = np.zeros((len(rows), 8), dtype=np.uint8)
        every[:, : self.message_bytes] = rows
        return every.view("<i8").reshape(-1).astype(np.int64, copy=False)

    def positions(self, rows: bits.Rows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the number of bins that each row names, and the named bins, row by row.

        The form must be ``positions``. If a row states a count above the cap, the count is read as
        the cap.
        """
        return unpack_positions(rows, self.cap or 0, self.position_bits, self.count_bytes)

    def to_packed_bits(self, rows: bits.Rows) -> bits.Rows:
        """Return ``rows`` as packed bits, one per bin. The form must not be ``index``."""
        if self.form is Form.BITS:
            return rows
        many, named = self.positions(rows)
        out = np.zeros((len(rows), bits.row_bytes(self.bins)), dtype=np.uint8)
        row = np.repeat(np.arange(len(rows)), many)
        # ``at``, because bins that share a byte would overwrite each other in an assignment.
        np.bitwise_or.at(out, (row, named >> 3), (1 << (named & 7)).astype(np.uint8))
        return out

    def slots(self, rows: bits.Rows) -> Slots:
        """Return the content of every slot of ``rows``, for the form ``positions`` only."""
        return read_slots(rows, self.cap or 0, self.position_bits, self.count_bytes)

    def parse_messages(self, messages: list[bytes]) -> bits.Rows:
        """Return messages as rows, or raise MessageError for one of the wrong length or form."""
        for number, message in enumerate(messages):
            if len(message) != self.message_bytes:
                raise self._refusal(number, f"{len(message)} bytes")
        rows = np.frombuffer(b"".join(messages), dtype=np.uint8)
        return self.check_rows(rows.reshape(len(messages), self.message_bytes))

    def check_rows(self, rows: bits.Rows) -> bits.Rows:
        """Return ``rows``, or raise MessageError for a wrong width or a row with a ``Fault``."""
        self._check_width(rows)
        self._check_faults(rows, _faults(self, rows))
        return rows

    def read_bins(self, rows: bits.Rows) -> wide.Numbers:
        """Return the bins that ``rows`` name, in any order. The form must not be ``bits``.

        Raise MessageError as ``check_rows`` does. Checking and reading share one pass over the
        rows.
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
        """Return, for each fault, a mask of the rows that have it, shape (rows,).

        A row is counted under one fault only: the first that applies.
        """
        return {reason.value: wrong for reason, wrong in _faults(self, rows).items()}

    def _refusal(self, number: int, got: str) -> MessageError:
        return MessageError(
            f"message {number}",
            expected=f"{pluralize(self.message_bytes, 'byte')} naming bins 0..{self.bins - 1} "
            f"({self.form} form)",
            got=got,
            do="drop it, and check that sender and collector have the same plan fingerprint",
        )


class Fault(StrEnum):
    """A reason why no honest device can have written a message. Results show these texts."""

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


def _faults_of_codes(layout: Layout, codes: wide.Numbers) -> Faults:
    if wide.is_wide(codes):
        return {Fault.PAST_THE_LAST: ~wide.is_below(codes, layout.bins)}
    # Codes of eight bytes are read as signed integers, so large ones are negative.
    return {Fault.PAST_THE_LAST: (codes < 0) | (codes >= layout.bins)}


def _faults_of_positions(layout: Layout, rows: bits.Rows, read: Slots) -> Faults:
    stated = rows[:, 0].astype(np.int64)
    if layout.count_bytes == 2:
        stated |= rows[:, 1].astype(np.int64) << 8
    _, numbers, filled = read
    # Each row has the first reason that applies. A count above the cap comes first, because then
    # the slots cannot be interpreted.
    too_many = stated > (layout.cap or 0)
    past = ((numbers >= layout.bins) & filled).any(axis=0) & ~too_many
    falls = ((numbers[1:] <= numbers[:-1]) & filled[1:]).any(axis=0)
    unordered = falls & ~too_many & ~past
    # Unused bits must be zero, so that messages of equal content have equal bytes.
    marked = ((numbers != 0) & ~filled).any(axis=0)
    used_bits = 8 * layout.count_bytes + (layout.cap or 0) * layout.position_bits
    marked |= bits.rows_with_padding(rows, used_bits)
    not_zero = marked & ~(too_many | past | unordered)
    return {
        Fault.TOO_MANY: too_many,
        Fault.PAST_THE_LAST: past,
        Fault.UNORDERED: unordered,
        Fault.NOT_ZERO: not_zero,
    }

"""Index of an exported round: the SHA-256 of every file, signed by the collector.

``exporting`` writes it, and ``check_round`` reads it from a folder or an address that anyone may
have written. The index makes the collector accountable for the tally, the result and the messages,
because no other signed text contains their hashes.
"""

import re
from hashlib import sha256

import msgspec

from mixtally.device.contract.fields import MOST_NOTE_BYTES, text_of
from mixtally.device.wire.manifest import MOST_PIECE_BYTES
from mixtally.device.wire.sheet import DIGEST, write_note
from mixtally.server.collector.kept import MESSAGES

CONTRACT, INDEX = "contract.note", "index.note"
KIND, VERSION = "export", 1
MOST_FILES = 80_000
"""The maximum number of files, so that the index fits into a note."""
MOST_FILE_BYTES = 1 << 28
"""Maximum length of a tally or a result."""
_NAME = re.compile(
    r"(contract|sheet)\.note|(manifest-[1-5]|receipt-[2-6])\.note|rotations\.json"
    rf"|(tally|result|receipt)\.json|receipt\.md|(piece|list)-[0-9a-f]{{64}}|{MESSAGES.pattern}"
)


class ExportedFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The SHA-256 of a file, in hexadecimal digits, and its length in bytes."""

    sha256: str
    length: int

    def matches(self, data: bytes) -> bool:
        """Return whether ``data`` has the length and the SHA-256 of this file."""
        return len(data) == self.length and sha256(data).hexdigest() == self.sha256


class ExportIndex(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The files of an exported round.

    ``contract`` and ``sheet`` are the SHA-256 of the contract and of the sheet, and ``software`` is
    the version of mixtally that wrote the files. ``files`` maps the name of each file to its entry.
    Raises ValueError for an unknown file name, for a length that no role writes, and for a
    malformed digest.
    """

    version: int
    kind: str
    contract: str
    sheet: str
    software: str
    files: dict[str, ExportedFile]

    def __post_init__(self) -> None:
        if (self.kind, self.version) != (KIND, VERSION) or len(self.files) > MOST_FILES:
            raise ValueError(f"an index of {self.kind} {self.version}, {len(self.files)} files")
        for name, file in self.files.items():
            if not is_export_name(name) or not 0 <= file.length <= max_bytes(name):
                raise ValueError(f"the file {name[:80]!r} of {file.length} bytes")
        digests = [self.contract, self.sheet, *(file.sha256 for file in self.files.values())]
        if not all(map(DIGEST.fullmatch, digests)):
            raise ValueError("a digest that is none")


def is_export_name(name: str) -> bool:
    """Return whether a file of an exported round, other than the index, can have this name."""
    return _NAME.fullmatch(name) is not None


def max_bytes(name: str) -> int:
    """Return the maximum length in bytes of the file ``name`` of an exported round."""
    if name in ("tally.json", "result.json"):
        return MOST_FILE_BYTES
    return MOST_NOTE_BYTES if name.endswith((".note", "rotations.json")) else MOST_PIECE_BYTES


def describe_file(data: bytes) -> ExportedFile:
    """Return the index entry of a file with the content ``data``."""
    return ExportedFile(sha256(data).hexdigest(), len(data))


def write_index(index: ExportIndex) -> bytes:
    """Return the text of an index, which the collector then signs."""
    fields = msgspec.to_builtins(index)
    return write_note(fields.pop("kind"), fields)


def read_index(data: bytes) -> ExportIndex:
    """Read an index without checking signatures; raises msgspec.DecodeError for other bytes."""
    return msgspec.json.decode(text_of(data), type=ExportIndex)

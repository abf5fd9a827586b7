"""A device's key for memoized answers, in a file of its own, and the answers of the device.

A *memoized response* is an answer that is randomized once and then used in every report. The
response is derived from the key, so only the key is stored. The file also lists the *memories* for
which the key was used. A memory is a combination of a question, an encoder and the probability f of
the permanent randomization. The privacy losses of different memories add up.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from unicodedata import normalize

from mixtally.errors import DataError
from mixtally.model.memoized_plan import MemoizedPlan
from mixtally.primitives.bits import Rows
from mixtally.primitives.chance import Chance
from mixtally.primitives.files import read_whole, remove_temporary, resolve_target, write_atomically
from mixtally.primitives.lock import exclusive_lock
from mixtally.protocol.encode.bloom import encode_bloom
from mixtally.protocol.encode.categorical import encode
from mixtally.protocol.randomize.memoized import (
    KEY_BYTES,
    cohort_of,
    derive_response,
    draw_reports,
    memory_of,
    new_key,
)

_FIRST_LINE = "mixtally key of memoized answers, version 1"
_LEAST_LINES = 3
"""The fewest parts into which newlines split the file: first line, key, and an empty text.
"""
_MOST = 1 << 20
"""The most bytes of a key file."""
_DIGITS = frozenset("0123456789abcdef")


class Report(NamedTuple):
    """The message of a person: packed bits, and the cohort, whose people share hash functions."""

    cohort: int
    bits: bytes


class MemoizedDevice:
    """A device that answers under ``plan``, or a simulated crowd whose people all use one key."""

    def __init__(self, plan: MemoizedPlan, key: bytes) -> None:
        self.plan, self.key = plan, key

    def report(self, value: str, chance: Chance, person: str = "") -> Report:
        """Return the next report of ``value``, whose memoized response never changes.

        Raises
        ------
        DataError
            If the question does not have the value.
        """
        row = self.responses([person], [value])
        cohort = cohort_of(self.key, self.plan.mechanism, person)
        return Report(cohort, draw_reports(self.plan.mechanism, row, chance).tobytes())

    def responses(self, persons: Sequence[str], values: Sequence[str]) -> Rows:
        """Return the memoized response of every person, shape (persons, row bytes).

        ``values`` are the values of the persons, in the same order; they are normalized to NFC.

        Raises
        ------
        DataError
            If the question does not have a value.
        """
        forms = [normalize("NFC", value) for value in values]
        return derive_response(self.plan, self.key, persons, forms, self._records(persons, forms))

    def _records(self, persons: Sequence[str], values: Sequence[str]) -> Rows:
        mechanism = self.plan.mechanism
        if not mechanism.hashed:
            return mechanism.layout.rows(encode(self.plan.question, values))
        cohorts = [cohort_of(self.key, mechanism, person) for person in persons]
        return encode_bloom(self.plan, cohorts, values)


class DeviceKey(NamedTuple):
    """A key, and the names (``memory_of``) of the memories for which the key was used."""

    key: bytes
    memories: tuple[str, ...]


def device_key(path: Path, plan: MemoizedPlan, chance: Chance) -> DeviceKey:
    """Return the key in the file ``path``, and add the memory of ``plan`` to the file's list.

    If there is no file, a new key is made. The key and the memory are on the disk before this
    function returns. If two processes make a key at the same time, both get the same key.

    Raises
    ------
    DataError
        If the file does not contain a key, or cannot be read or written. The file is then not
        changed.
    """
    path, memory = resolve_target(path), memory_of(plan)
    # The lock makes two concurrent processes agree on one key. With two keys, a person would have
    # two memoized responses.
    with exclusive_lock(path.parent, required=True):
        remove_temporary(path)
        found = _parse_key_file(path) or DeviceKey(new_key(chance), ())
        if memory not in found.memories:
            found = DeviceKey(found.key, (*found.memories, memory))
            lines = (_FIRST_LINE, found.key.hex(), *found.memories)
            text = "".join(f"{line}\n" for line in lines)
            write_atomically(path, text.encode("ascii"), what="the key", mode=0o600)
    return found


def _parse_key_file(path: Path) -> DeviceKey | None:
    try:
        text = read_whole(path, most=_MOST).decode("ascii")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise _no_key_error(path, error) from error
    lines = text.split("\n")
    if lines[0] != _FIRST_LINE or lines[-1] or len(lines) < _LEAST_LINES:
        raise _no_key_error(path, "a file that is not a whole key")
    key, *memories = lines[1:-1]
    if any(len(line) != 2 * KEY_BYTES or not _DIGITS.issuperset(line) for line in (key, *memories)):
        raise _no_key_error(path, "lines that are not of 64 hexadecimal digits")
    return DeviceKey(bytes.fromhex(key), tuple(memories))


def _no_key_error(path: Path, got: object) -> DataError:
    return DataError(
        str(path),
        expected="the key of memoized answers, or no file yet",
        got=got,
        do="if this is another file, choose another path; if this is a damaged key, restore the "
        "key from its copy, because a new key draws new responses, which reveal more",
    )

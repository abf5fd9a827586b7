"""A device's key for memoized answers, in a file of its own, and what it answers by it.

Responses are derived from the key, so that it is all that is kept. The file also names the memories
that the key has answered under, question, encoder and f of each: their losses add up.
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
"""This line, the key, and the nothing after the last end of a line."""
_MOST = 1 << 20
_DIGITS = frozenset("0123456789abcdef")


class Report(NamedTuple):
    """What a person sends: the cohort and the packed bits."""

    cohort: int
    bits: bytes


class MemoizedDevice:
    """What a device answers under ``plan``; or, with one key, a crowd that is played."""

    def __init__(self, plan: MemoizedPlan, key: bytes) -> None:
        self.plan, self.key = plan, key

    def report(self, value: str, chance: Chance, person: str = "") -> Report:
        """The next report of ``value``, whose response is the same every time.

        Raises DataError for a value that the question does not have.
        """
        row = self.responses([person], [value])
        cohort = cohort_of(self.key, self.plan.mechanism, person)
        return Report(cohort, draw_reports(self.plan.mechanism, row, chance).tobytes())

    def responses(self, persons: Sequence[str], values: Sequence[str]) -> Rows:
        """The response of every person for the value beside, in form NFC.

        Its shape is (persons, row bytes).

        Raises DataError for a value that the question does not have.
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
    """A key, and the memories that it has answered under, as ``memory_of`` names them."""

    key: bytes
    memories: tuple[str, ...]


def device_key(path: Path, plan: MemoizedPlan, chance: Chance) -> DeviceKey:
    """The key in the file ``path``, made there if there is no file; it says that ``plan`` is used.

    Both are on the disk before anything is answered. Of two processes that make a key at once one
    does, and both get that one. Raises DataError for a file that is none, which is left as it is,
    and when the disk refuses.
    """
    path, memory = resolve_target(path), memory_of(plan)
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
        raise _no_key_error(path, str(error)) from error
    lines = text.split("\n")
    if lines[0] != _FIRST_LINE or lines[-1] or len(lines) < _LEAST_LINES:
        raise _no_key_error(path, "another file, or a part of one")
    key, *memories = lines[1:-1]
    if any(len(line) != 2 * KEY_BYTES or not _DIGITS.issuperset(line) for line in (key, *memories)):
        raise _no_key_error(path, "lines that are not of 64 hexadecimal digits")
    return DeviceKey(bytes.fromhex(key), tuple(memories))


def _no_key_error(path: Path, got: str) -> DataError:
    return DataError(
        str(path),
        expected="the key of memoized answers, or no file yet",
        got=got,
        do="choose another place, as nothing is overwritten; a damaged key needs its copy, since "
        "with another one every response is another, and tells more",
    )

"""Options of commands that act for a device: whom it trusts, and where its diary is."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from mixtally.cli import options as o
from mixtally.device.client.net import (
    Diary,
    Trust,
    TrustedContract,
    move_pins,
    read_trust,
    verify_contract,
)
from mixtally.device.client.net.pins import validate_fingerprint
from mixtally.device.client.net.requests import fetch
from mixtally.device.wire.rotation import KeyChanges, verify_rotations
from mixtally.errors import DataError, ParameterError, RefusedError
from mixtally.primitives.files import read_bytes

_PINS = "write the file as in docs/how-to/device.md, or give --fingerprint HEX instead"
_SERVED = "download it from a role of the contract, or give its address: https://.../contracts/..."

ContractPlace = Annotated[
    str,
    typer.Argument(
        help="The contract with its signatures: a file, or its address at a role, "
        "https://.../contracts/FINGERPRINT.",
        metavar="CONTRACT",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceOptions:
    """The keys that this person trusts, and the diary of this device."""

    trust: Annotated[
        Path | None, o.option("--trust", "Trusted keys, limits and a budget, as TOML.", "FILE")
    ] = None
    fingerprint: Annotated[
        str | None, o.option("--fingerprint", "Fingerprint of the expected contract.", "HEX")
    ] = None
    diary: Annotated[
        Path | None,
        o.option("--diary", "What left this device (default ~/.mixtally/diary.db).", "FILE"),
    ] = None

    rotations: Annotated[
        Path | None,
        o.option(
            "--rotations",
            "Rotations of pinned keys, as a role serves them at .../rotations (default: those at "
            "the address of the contract).",
            "FILE",
        ),
    ] = None

    def load_trust(self) -> Trust:
        """Return what the person trusts: the keys in the trust file, and the fingerprint option.

        If there are neither, the verification of a contract raises RefusedError later.
        """
        file = self.trust
        trust = Trust() if file is None else read_trust(read_bytes(file, "pins", _PINS), str(file))
        if self.fingerprint is None:
            return trust
        try:
            validate_fingerprint(self.fingerprint)
        except ValueError as error:
            raise _option_error("--fingerprint", str(error), self.fingerprint) from error
        if trust.pins.fingerprint not in (None, self.fingerprint):
            raise _option_error("--fingerprint", "that of the file --trust", self.fingerprint)
        return trust._replace(pins=trust.pins._replace(fingerprint=self.fingerprint))

    def verify(self, contract: str, believed: Trust) -> TrustedContract:
        """Verify the contract in a file or at an address, and follow rotations of pinned keys.

        A *pinned* key is one that the person already trusts for a role. A *rotation* is a note in
        which a role's old key names its new key. First, each pinned key is replaced by its newest
        successor in the diary, which stores the rotations that this device has accepted. The file
        ``rotations`` can have further rotations. If a key of the contract still differs from the
        pinned key of its role, and ``contract`` is an address, the rotations at this address are
        used as well.
        """
        data = read_note(contract, "a contract")
        pins = move_pins(believed.pins, self._read_key_changes())
        file = self.rotations
        given = {} if file is None else verify_rotations(read_bytes(file, "rotations", _SERVED))
        try:
            return verify_contract(data, pins, believed.limits, given)
        except RefusedError as error:
            if error.reason != "not-the-pinned-key" or not _is_address(contract):
                raise
            try:
                served = verify_rotations(fetch(f"{contract}/rotations"))
            except DataError:
                raise error from None
        return verify_contract(data, pins, believed.limits, {**served, **given})

    def _read_key_changes(self) -> KeyChanges:
        """Return the key changes in the diary; a missing diary is not created."""
        if not self.diary_path.exists():
            return {}
        with Diary(self.diary_path) as diary:
            return diary.key_changes()

    @property
    def diary_path(self) -> Path:
        """The path of the diary."""
        return Path.home() / ".mixtally" / "diary.db" if self.diary is None else self.diary

    def open_diary(self) -> Diary:
        """Open the diary; only the owner can read the default folder."""
        if self.diary is None:
            self.diary_path.parent.mkdir(mode=0o700, exist_ok=True)
        return Diary(self.diary_path)


def read_note(place: str, what: str) -> bytes:
    """Return the bytes of a note from a file or an address; the caller verifies its signatures."""
    if _is_address(place):
        return fetch(place)
    return read_bytes(Path(place), what, _SERVED)


def _is_address(place: str) -> bool:
    return place.startswith(("https://", "http://"))


def _option_error(option: str, expected: str, got: str) -> ParameterError:
    # The text is escaped, because it may contain control characters, and shortened.
    return ParameterError(option, expected=expected, got=ascii(got)[:80], do="correct the option")

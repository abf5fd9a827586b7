"""One-time codes: what a person types, and the list of hashes that admits bundles.

A collector makes codes, gives one to each person, and signs a list of their hashes. The first hop
accepts one bundle for each code and round. A code is 28 digits of base 32: 128 secret bits, and 12
check bits that detect mistyped codes.

Source: D. Crockford, "Base 32", for the digits, and letters that are read as digits.
"""

from collections.abc import Iterable
from hashlib import sha256

from mixtally.device.contract.fields import make_refusal, text
from mixtally.device.wire.sheet import DIGEST, note_fields, read_digest, write_note
from mixtally.errors import RefusedError

SCHEME = "Code"
"""The scheme of the header ``Authorization``, in which a code is sent."""
SECRET_BYTES = 16
MOST_CODES = 200_000
"""The maximum number of codes of a contract, so that their hashes fit into one note."""
_FIELDS = "version kind contract hashes"
_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_LENGTH, _CHECK_BITS = 28, 12
_TYPED = str.maketrans("OIL", "011", "- ")


def make_code(secret: bytes) -> str:
    """Return the code of 16 secret bytes."""
    number = int.from_bytes(secret + sha256(secret).digest()[:2], "big") >> (16 - _CHECK_BITS)
    return "".join(_DIGITS[number >> 5 * place & 31] for place in range(_LENGTH - 1, -1, -1))


def read_code(typed: str) -> str:
    """Return the code that a person typed, in canonical form; raise RefusedError if it is invalid.

    Hyphens, spaces and lower case are accepted, and letters that look like digits are replaced.
    """
    code = typed.strip(" \t\r\n").upper().translate(_TYPED) if typed.isascii() else ""
    if len(code) == _LENGTH and set(code) <= set(_DIGITS):
        number = 0
        for digit in code:
            number = number << 5 | _DIGITS.index(digit)
        if make_code((number >> _CHECK_BITS).to_bytes(SECRET_BYTES, "big")) == code:
            return code
    raise RefusedError(
        "code-malformed",
        "code",
        expected="a code of 28 letters and digits",
        got="something else",
        do="compare the code with the one that you received",
    )


def check_code(admission: str, typed: str | None) -> str | None:
    """Return the code to send with a bundle, or None if the contract asks for none.

    Raise RefusedError for a missing, invalid or unnecessary code.

    Parameters
    ----------
    admission : str
        The contract's field ``admission``: "open" or "codes".
    typed : str or None
        The code that the person typed; None if they typed none.
    """
    if admission == "open" and typed is not None:
        reason, expected, got = "code-not-asked", "no code, as everybody may answer", "a code"
    elif admission == "codes" and typed is None:
        reason, expected, got = "code-missing", "a code, as the contract asks for one", "none"
    else:
        return None if typed is None else read_code(typed)
    do = "give a code with contracts that ask for one, and only with these"
    raise RefusedError(reason, "code", expected=expected, got=got, do=do)


def hash_code(code: bytes) -> bytes:
    """Return the hash of a code, as in the list that the collector signs."""
    return sha256(code).digest()


def write_codes(contract: str, codes: Iterable[str]) -> bytes:
    """Return the text with the hashes of all codes, which the collector signs."""
    hashes = sorted(hash_code(code.encode()).hex() for code in codes)
    return write_note("codes", {"contract": contract, "hashes": hashes})


def contract_of_codes(data: bytes) -> str:
    """Return the fingerprint of the contract that a list of codes names."""
    return read_digest(note_fields(data, "codes", _FIELDS), "contract")


def read_codes(data: bytes, contract: str, most: int) -> frozenset[bytes]:
    """Return the hashes in the list of codes of a contract, without verifying signatures.

    Raise RefusedError for an invalid list, for the list of another contract, and for more than
    ``most`` hashes.
    """
    fields = note_fields(data, "codes", _FIELDS)
    if read_digest(fields, "contract") != contract:
        got = fields.values["contract"]
        raise make_refusal("other-contract", fields.at("contract"), contract, got)
    place, before, found = fields.at("hashes"), "", set()
    hashes = fields.items("hashes")
    if not 1 <= len(hashes) <= min(most, MOST_CODES):
        expected = f"1 to {min(most, MOST_CODES)} hashes"
        raise make_refusal("codes-miscounted", place, expected, len(hashes))
    for one in hashes:
        if not DIGEST.fullmatch(text(one, place)):
            raise make_refusal("digest-malformed", place, "64 digits of 0-9a-f", one)
        if one <= before:
            raise make_refusal("codes-unsorted", place, "hashes in ascending order", one)
        before = one
        found.add(bytes.fromhex(one))
    return frozenset(found)

"""Lists of one-time codes that the first mix accepts and refuses."""

import threading

import pytest

from helpers.code_mixes import CODES, STRANGE, listed, load
from mixtally.device.wire.codes import hash_code, write_codes
from mixtally.device.wire.note import sign_note
from mixtally.device.wire.sheet import write_note
from mixtally.errors import DataError, InputError, RefusedError
from mixtally.server.mix import codes
from mixtally.server.mix.admission import codes_path, load_admission
from mixtally.server.mix.codes import accept_codes


def altered(town, **fields):
    """A list whose text has other fields, signed by the collector."""
    plain = {"contract": town.fingerprint, "hashes": [hash_code(b"a").hex()]} | fields
    return sign_note(write_note("codes", plain), town.folders[-1].signer)


HASHES = sorted(hash_code(code.encode()).hex() for code in CODES)
LISTS = {
    "without a signature": lambda town: write_codes(town.fingerprint, CODES),
    "signed by a mix": lambda town: listed(town, signer=0),
    "signed by a key of the same name": lambda town: sign_note(
        write_codes(town.fingerprint, CODES),
        type(town.folders[-1].signer)("collector", bytes(32)),
    ),
    "changed below its signature": lambda town: listed(town).replace(b'"hashes"', b'"hashes" ', 1),
    "of another contract": lambda town: listed(town, contract="ab" * 32),
    "of no contract": lambda town: listed(town, contract="ab"),
    "without hashes": lambda town: altered(town, hashes=[]),
    "too long": lambda town: listed(town, [*CODES, STRANGE]),
    "unsorted": lambda town: altered(town, hashes=HASHES[::-1]),
    "a hash twice": lambda town: altered(town, hashes=[HASHES[0]] * 2),
    "codes in clear": lambda town: altered(town, hashes=sorted(CODES)),
    "another field": lambda town: altered(town, round=1),
    "another kind": lambda town: sign_note(
        write_note("sheet", {"contract": town.fingerprint, "hashes": HASHES}),
        town.folders[-1].signer,
    ),
    "no JSON": lambda town: sign_note(b"codes\n", town.folders[-1].signer),
    "no note": lambda _: b"\xff",
}


@pytest.mark.parametrize("make", LISTS.values(), ids=LISTS)
def test_a_list_is_refused(quiet, make):
    path = codes_path(quiet.folders[0].path, quiet.fingerprint)
    before = path.read_bytes()
    path.unlink()
    try:
        with pytest.raises((RefusedError, InputError)):
            load(quiet, make(quiet))
        assert not path.exists()
    finally:
        path.write_bytes(before)


def test_a_contract_has_one_list(town):
    first = listed(town)
    assert load(town, first)[1] == 4  # the same again
    with pytest.raises(InputError, match="the list of codes that this contract has already"):
        load(town, listed(town, CODES[:3]))
    assert codes_path(town.folders[0].path, town.fingerprint).read_bytes() == first
    with pytest.raises(InputError, match="of which this is the first mix"):
        accept_codes(town.mixes[1].node, first, "codes.note")


def test_of_two_lists_at_once_one_is_accepted(town, plant):
    path = codes_path(town.folders[0].path, town.fingerprint)
    path.unlink()
    first, second, refused = listed(town), listed(town, CODES[:3]), []

    def load_second():
        try:
            load(town, second)
        except InputError:
            refused.append(second)

    other = threading.Thread(target=load_second)

    def put(honest, *given):
        if not other.ident:
            other.start()
            other.join(0.3)
        honest(*given)

    plant(codes.disk, "put", put)
    assert load(town, first)[1] == 4
    other.join()
    assert (path.read_bytes(), refused) == (first, [second])


def test_a_list_that_was_damaged_is_noticed(town, tmp_path):
    path = codes_path(town.folders[0].path, town.fingerprint)
    path.write_bytes(path.read_bytes().replace(HASHES[0].encode(), b"0"))
    with pytest.raises(DataError, match="the list that `mix codes` wrote"):
        load_admission(town.folders[0].path, town.fingerprint, "codes", 4)
    path.unlink()
    with pytest.raises(DataError):
        load_admission(town.folders[0].path, town.fingerprint, "codes", 4)

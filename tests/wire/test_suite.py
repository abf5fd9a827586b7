"""Suites and key configurations: an example of RFC 9458, and every form that is no key."""

import pytest

from mixtally.device.contract import contract as device
from mixtally.device.wire.suite import SUITES
from mixtally.errors import RefusedError
from mixtally.model import contract as records
from wire.builders import private, reason

# RFC 9458, appendix A: the gateway's secret key, and the configuration that follows from it.
SECRET = bytes.fromhex("3c168975674b2fa8e465970b79c8dcf09f1c741626480bd4c6162fc5b6a98e1a")
EXAMPLE = bytes.fromhex(
    "01002031e1f05a740102115220e9af918f738674aec95f54db6e04eb705aae8e79815500080001000100010003"
)
BOTH = pytest.mark.parametrize("suite", list(SUITES.values()), ids=list(SUITES))


def test_a_configuration_is_the_example_but_for_its_number_and_algorithms():
    ours = SUITES[1].configuration(SECRET)
    assert ours[1:35] == EXAMPLE[1:35]  # KEM and public key
    assert ours[:1] == b"\0"
    assert EXAMPLE[:1] == b"\1"
    assert ours[35:] == bytes.fromhex("0004 0001 0001")  # one pair of algorithms where it has two
    assert EXAMPLE[35:] == bytes.fromhex("0008 0001 0001 0001 0003")
    assert reason(SUITES[1].key, EXAMPLE) == "key-configuration"


@BOTH
def test_lengths_are_as_stated(suite):
    made = suite.configuration(private(1, suite.number))
    assert len(made) == 3 + suite.public_bytes + 6
    key = suite.key(made)
    assert len(suite.create_suite().encrypt(b"abc", key, b"")) == 3 + suite.layer_bytes
    assert (suite.layer_bytes, len(made)) == {1: (48, 41), 2: (1136, 1225)}[suite.number]


@BOTH
def test_every_byte_but_the_key_is_as_it_must_be(suite):
    made = suite.configuration(private(1, suite.number))
    for place in (0, 1, 2, *range(len(made) - 6, len(made))):
        altered = made[:place] + bytes([made[place] ^ 1]) + made[place + 1 :]
        assert reason(suite.key, altered) == "key-configuration"


@BOTH
def test_no_other_length_is_a_key(suite):
    made = suite.configuration(private(1, suite.number))
    for altered in (
        b"",
        made[:-1],
        made + b"\0",
        made[:3] + made[4:],
        made[:9] + made[8:],
        made * 2,
    ):
        assert reason(suite.key, altered) == "key-configuration"


def test_no_suite_takes_the_key_of_another():
    for one, other in ((1, 2), (2, 1)):
        made = SUITES[one].configuration(private(0, one))
        assert reason(SUITES[other].key, made) == "key-configuration"


ORDER_8 = "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"
SMALL = [
    bytes(32),
    bytes([1]) + bytes(31),
    bytes.fromhex(ORDER_8),
    bytes.fromhex("ec" + "ff" * 30 + "7f"),
    bytes.fromhex("ed" + "ff" * 30 + "7f"),
    bytes.fromhex("ee" + "ff" * 30 + "7f"),
    bytes(31) + b"\x80",
]


@BOTH
@pytest.mark.parametrize("point", SMALL, ids=bytes.hex)
def test_points_for_which_nobody_can_seal_are_no_keys(suite, point):
    made = suite.configuration(private(1, suite.number))
    altered = made[:-38] + point + made[-6:]
    assert reason(suite.key, altered) == "key-configuration"


def test_numbers_that_are_no_lattice_key_are_refused_or_harmless():
    """ML-KEM keys have a check of their own: whatever the library takes can be sealed for."""
    suite = SUITES[2]
    made = suite.configuration(private(1, 2))
    altered = made[:3] + b"\xff" * 1152 + made[3 + 1152 :]
    try:
        key = suite.key(altered)
    except RefusedError:
        return
    suite.create_suite().encrypt(b"abc", key, b"")


def test_devices_and_records_count_with_the_same_lengths():
    layers = {number: suite.layer_bytes for number, suite in SUITES.items()}
    assert layers == device.LAYER_BYTES
    assert set(records.SUITES) == set(layers)
    assert all(suite.number == number for number, suite in SUITES.items())


@BOTH
@pytest.mark.parametrize("change", [-1, 1, None])
def test_secret_bytes_of_another_length_are_no_key(suite, change):
    size = 0 if change is None else suite.private_bytes + change
    with pytest.raises(ValueError):
        suite.private(bytes(size))

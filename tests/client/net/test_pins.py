"""The file of decisions: what it says is taken, and a slip of the pen is never passed over."""

import pytest

from helpers.devices import World
from mixtally.device.client import Limits
from mixtally.device.client.net import Budget, Pins, Trust, read_trust
from mixtally.errors import DataError

SIGNER = World().signers[0]
PRINT = "0f" * 32


def test_nothing_is_said():
    assert read_trust(b"", "f") == Trust(Pins(), Limits(), None)


def test_everything_is_said():
    text = f"""
        fingerprint = "{PRINT}"
        keys = ["{SIGNER.verifier}"]
        [limits]
        epsilon = 2
        delta = 1e-7
        local_epsilon = 8.5
        hops = 3
        protocols = ["clear-shaped", "flip-blank"]
        covers = ["every mix"]
        [budget]
        epsilon = 3.0
        delta = 1e-5
    """
    limits = Limits(
        2.0, 1e-7, 8.5, 3, frozenset({"clear-shaped", "flip-blank"}), frozenset({"every mix"})
    )
    wanted = Trust(Pins(PRINT, (("mix-1", SIGNER.public),)), limits, Budget(3.0, 1e-5))
    assert read_trust(text.encode(), "f") == wanted


@pytest.mark.parametrize(
    "text",
    [
        "fingerprints = []",
        "fingerprint = 3",
        f'fingerprint = "{PRINT[:-1]}"',
        f'fingerprint = "{PRINT.upper()}"',
        'keys = "mix-1"',
        "keys = [3]",
        'keys = ["mix-1"]',
        f'keys = ["{SIGNER.verifier[:-2]}AA"]',
        f'keys = ["{SIGNER.verifier}", "{SIGNER.verifier}"]',
        f'keys = ["{SIGNER.private_key_text}"]',
        "limits = 3",
        "[limits]\nepsilom = 1.0",
        "[limits]\nepsilon = -1.0",
        "[limits]\nepsilon = nan",
        "[limits]\nepsilon = inf",
        "[limits]\nepsilon = true",
        '[limits]\nepsilon = "1"',
        "[limits]\nhops = 2.0",
        '[limits]\nprotocols = "clear-shaped"',
        '[limits]\nprotocols = ["clear"]',
        "[limits]\ncovers = [[]]",
        "[budget]\nepsilon = 1.0",
        "[budget]\nepsilon = 1.0\ndelta = 1e-6\nmore = 1",
        "\x00",
        "[[[",
    ],
)
def test_a_slip_of_the_pen_is_refused(text):
    with pytest.raises(DataError, match=r"^trust\.toml: "):
        read_trust(text.encode(), "trust.toml")


def test_bytes_that_are_no_text():
    with pytest.raises(DataError):
        read_trust(b"\xff\xfe", "trust.toml")

"""The keyed hash that maps texts of an open domain to points."""

import re

import msgspec

from mixtally.errors import PlanError
from mixtally.primitives.chance import Chance

SEED_BYTES = 16
HMAC_SHA256 = "HMAC-SHA-256"
_SEED = re.compile(rf"[0-9a-f]{{{2 * SEED_BYTES}}}")


class Hashing(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The hash that every device uses, as ``protocol.encode.hashed`` implements it.

    Raises PlanError for another hash, or a seed of another form.

    Attributes
    ----------
    function : str
        The name of the hash, "HMAC-SHA-256", which browsers implement as well.
    seed : str
        The key, 32 hexadecimal digits. The key is public, and drawn before anybody answers.
    """

    function: str
    seed: str

    def __post_init__(self) -> None:
        if self.function != HMAC_SHA256:
            raise PlanError(
                "hash",
                expected=HMAC_SHA256,
                # Text from a file is escaped and cut, because a terminal may show the message.
                got=ascii(self.function)[:40],
                do="plan again; another hash maps texts to other points",
            )
        if not _SEED.fullmatch(self.seed):
            raise PlanError(
                "hash seed",
                expected=f"{2 * SEED_BYTES} hexadecimal digits in lower case",
                got=repr(self.seed[:40]),
                do="leave the seed out, and one will be drawn",
            )


def draw_seed(chance: Chance) -> str:
    """Draw a seed for one plan."""
    return chance.words(SEED_BYTES // 8).astype("<u8").tobytes().hex()

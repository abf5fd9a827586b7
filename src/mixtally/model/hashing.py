"""How texts of an open domain become points: by a keyed hash that a plan fixes."""

import re

import msgspec

from mixtally.errors import PlanError
from mixtally.primitives.chance import Chance

SEED_BYTES = 16
HMAC_SHA256 = "HMAC-SHA-256"
_SEED = re.compile(rf"[0-9a-f]{{{2 * SEED_BYTES}}}")


class Hashing(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The hash everybody uses, ``protocol.encode.hashed`` says how.

    where
      function   the name of the hash: "HMAC-SHA-256", which browsers have as well
      seed       its key, 32 hexadecimal digits; public, drawn before anybody answers

    Raises PlanError for another hash and for a seed of another form.
    """

    function: str
    seed: str

    def __post_init__(self) -> None:
        if self.function != HMAC_SHA256:
            raise PlanError(
                "hash",
                expected=HMAC_SHA256,
                got=ascii(self.function)[:40],
                do="plan again: another hash makes other points",
            )
        if not _SEED.fullmatch(self.seed):
            raise PlanError(
                "hash seed",
                expected=f"{2 * SEED_BYTES} hexadecimal digits in lower case",
                got=repr(self.seed[:40]),
                do="leave it out to have one drawn",
            )


def draw_seed(chance: Chance) -> str:
    """A seed for one plan."""
    return chance.words(SEED_BYTES // 8).astype("<u8").tobytes().hex()

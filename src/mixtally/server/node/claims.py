"""Claims: signatures by which a role reserves memory for a long body before it sends the body.

A note has its signatures at the end, so its first bytes do not prove who sends it. These bytes are
public, and a stranger can copy them. So a role that sends more than ``MOST_UNCLAIMED_BYTES`` signs
a claim, which is part of the URL of the request.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from mixtally.device.contract.roles import HASH_BYTES, key_hash
from mixtally.device.wire.note import Signer, is_valid_signature
from mixtally.model.agreement import Agreement
from mixtally.server.node.calls import Answer, Call

MOST_UNCLAIMED_BYTES = 1 << 16
"""The maximum size of a body without a claim. Most sheets and contracts are smaller."""
_MOST_SIGNERS = 8
"""Maximum number of signatures of a claim, one of each key that a role has or had."""
_CLAIM = re.compile(
    r"by=([A-Za-z0-9._/-]{1,100})&bytes=([0-9]{1,8})&signature=([0-9a-f]{136}(?:,[0-9a-f]{136}){0,7})"
)


def claim_long_bodies(call: Call, *signers: Signer) -> Call:
    """Return a variant of ``call`` that adds a claim of a role to requests with long bodies.

    ``signers`` have the role's present key and its earlier ones, which older contracts name.
    """

    def call_with_claim(address: str, method: str, path: str, body: bytes = b"") -> Answer:
        if len(body) > MOST_UNCLAIMED_BYTES:
            text = _claim_text(address, path, len(body))
            signatures = ",".join(
                (key_hash(one.name, one.public) + one.sign(text)).hex()
                for one in signers[:_MOST_SIGNERS]
            )
            path += f"?by={signers[0].name}&bytes={len(body)}&signature={signatures}"
        return call(address, method, path, body)

    return call_with_claim


class Claim(NamedTuple):
    """A claim that a role of a served contract has signed.

    The fields are the public key of the role and the length of the body.
    """

    key: bytes
    length: int


def read_claim(query: str, path: str, agreements: Iterable[Agreement]) -> Claim | None:
    """Return the claim in the query of a request, or None if no known role has signed one.

    A claim names the receiver and the path. So the receiver of a claim cannot use it at another
    role, and the claim for a piece is useless when the piece is stored. Somebody who reads the
    access log of the receiver's proxy can repeat the claim for a note. Such a request only uses the
    memory that is reserved for the role that signed the claim.

    Each signature names its key, and one signature for each known key is checked. So checking a
    claim of a stranger costs no more than checking the claim of a role.
    """
    found = _CLAIM.fullmatch(query)
    if found is None:
        return None
    name, length = found[1], int(found[2])
    signatures = {
        one[:HASH_BYTES]: one[HASH_BYTES:] for one in map(bytes.fromhex, found[3].split(","))
    }
    known = {(one.own_role.address, one.keys[name]) for one in agreements if name in one.keys}
    for address, key in known:
        signature = signatures.get(key_hash(name, key))
        text = _claim_text(address, path, length)
        if signature is not None and is_valid_signature(key, signature, text):
            return Claim(key, length)
    return None


def _claim_text(address: str, path: str, length: int) -> bytes:
    # No note contains a zero byte, so a claim is never the signature of a note.
    return "\0".join(("mixtally claim", address, path, str(length))).encode()

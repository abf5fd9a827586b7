"""Claims: signatures by which a role reserves memory for a long body before it sends the body.

A note has its signatures at the end, so nothing in its first bytes shows who sends it. Everything
in these bytes is public, and a stranger can copy it. So a role that sends more than
``MOST_UNCLAIMED_BYTES`` signs a claim, which is part of the address of the request.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from mixtally.device.contract.roles import HASH_BYTES, key_hash
from mixtally.device.wire.note import Signer, is_valid_signature
from mixtally.model.agreement import Agreement
from mixtally.server.node.calls import Answer, Call

MOST_UNCLAIMED_BYTES = 1 << 16
"""Maximum size of a body without a claim: more than most sheets and contracts have."""
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

    A claim names the receiver and the path. So a role that receives a claim cannot use it at
    another role, and a claim for a piece ends when the piece is stored. The claim of a note can be
    repeated by somebody who reads the access log of the receiver's proxy. Such a claim only
    occupies memory of the role that has signed it.

    Each signature names its key, and one signature for each known key is checked. So a claim of a
    stranger costs no more than the claim of a role.
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

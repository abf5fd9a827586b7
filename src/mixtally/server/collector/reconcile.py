"""Consistency check of the numbers of all hops and of the collector.

If messages were lost or added between two roles, the numbers that these roles declare do not match.
The refusal then names the first inconsistent hop, and nothing is released. The check cannot detect
a hop that did not draw its fakes as its recipe says.
"""

from collections import Counter
from collections.abc import Sequence

from mixtally.device.wire.consistency import check_manifests
from mixtally.device.wire.manifest import Manifest, PartManifest
from mixtally.errors import MessageError, RefusedError
from mixtally.model.received import PartReceived, Received
from mixtally.server.collector.contracts import SignedContract
from mixtally.server.collector.stored import StoredTally
from mixtally.server.node.rules import frame_of

COPY, UNOPENED, MALFORMED = "a copy of another", "not sealed for it", "another length"
"""Reasons for which a message is dropped. Results contain these texts."""
_LEFT_OUT = "an envelope that does not open"
_DO = "ask the operator of that hop; until then nothing is released"


def reconcile_numbers(
    agreed: SignedContract,
    sheet: str,
    manifests: Sequence[tuple[str, Manifest]],
    counted: StoredTally,
) -> Received:
    """Return the numbers of messages received, from the manifests of all hops and the tally.

    ``sheet`` is the SHA-256 of the round's sheet. Raises MessageError that names the hop if the
    numbers are inconsistent.
    """
    _check_chain(agreed, sheet, manifests)
    _check_counted(agreed, manifests[-1], counted)
    said = [manifest for _, manifest in manifests]
    names = [role.name for role in agreed.contract.hops]
    parts = []
    for place, own in enumerate(counted.parts):
        hops = [manifest.parts[place] for manifest in said]
        dropped = Counter[str]()
        for name, hop in zip(names, hops, strict=True):
            dropped.update(_count_dropped(name, hop))
        dropped.update({f"{reason}, at the collector": n for reason, n in own.dropped.items()})
        parts.append(
            PartReceived(
                # A hop that has added nothing has declared nothing: None, not 0.
                declared=tuple(hop.added or None for hop in hops),
                received=own.messages,
                dropped=dict(+dropped),
            )
        )
    left_out = {f"{_LEFT_OUT}, at {names[0]}": said[0].left_out} if said[0].left_out else {}
    return Received(contributors=said[0].bundles, parts=tuple(parts), left_out=left_out)


def _check_chain(
    agreed: SignedContract, sheet: str, manifests: Sequence[tuple[str, Manifest]]
) -> None:
    """Check the manifests hop by hop, so that the refusal names the first inconsistent one."""
    for place, role in enumerate(agreed.contract.hops, 1):
        try:
            check_manifests(manifests[:place], sheet, frame_of(agreed.agreement))
            if manifests[place - 1][1].destroyed is not None:
                raise MessageError(
                    f"manifest of {role.name}",
                    expected="a batch: a later hop sent one",
                    got=f"a round that it destroyed ({manifests[place - 1][1].destroyed})",
                    do=_DO,
                )
        except RefusedError as error:
            raise MessageError(
                f"manifest of {role.name}",
                expected="numbers that follow from those of the hop before it",
                got=f"{error.reason} ({error})".partition(";")[0] + ")",
                do=_DO,
            ) from error


def _check_counted(
    agreed: SignedContract, last: tuple[str, Manifest], counted: StoredTally
) -> None:
    digest, manifest = last
    name = agreed.contract.hops[-1].name
    if counted.manifest != digest:
        raise MessageError(
            f"manifest of {name}",
            expected=f"that of the batch that was counted, {counted.manifest}",
            got=digest,
            do="restore the newest folder of the collector",
        )
    sent = [part.sent_count for part in manifest.parts]
    received = [part.came for part in counted.parts]
    if sent != received:
        raise MessageError(
            f"messages of {name}",
            expected=", ".join(f"{many:,}" for many in sent),
            got=", ".join(f"{many:,}" for many in received),
            do=_DO,
        )


def _count_dropped(name: str, hop: PartManifest) -> dict[str, int]:
    said = {COPY: hop.copies, UNOPENED: hop.unopened, MALFORMED: hop.malformed}
    return {f"{reason}, at {name}": many for reason, many in said.items() if many}

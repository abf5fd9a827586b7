"""The hops whose fakes can still protect a round, judged by the numbers that hops declare.

``received`` and ``conclude`` call this module. A hop is a mix at its position in the chain. A hop
may add fewer fakes than its recipe requires, for example because its job was altered. Then this hop
protects nobody, even if it is honest. So the assumption of the certificate must name only the other
hops.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from mixtally.model.certificate import Certificate
from mixtally.model.contract import Part, Plan, Shape
from mixtally.model.mechanism import ShapedFakes
from mixtally.model.received import Received
from mixtally.protocol.estimate.received_fakes import bound_fake_count


def find_covering_hops(plan: Plan, received: Received) -> list[int]:
    """Return the numbers of the hops that declare all fakes of their recipe, in every part.

    Hops are numbered from 1. The number of shaped fakes is random, so a lower limit is used. An
    honest hop declares fewer fakes than this limit with probability at most 1e-9. If people provide
    the cover (the fakes and flips that hide a person), all hops are returned, because no hop has to
    add fakes.

    Parameters
    ----------
    plan : Plan
        The plan of the round.
    received : Received
        The numbers that hops and the collector declared.
    """
    parts = list(zip(plan.parts, received.parts, strict=True))
    return [
        hop
        for hop in range(1, plan.hops + 1)
        if all(_is_complete(part, part_received.declared[hop - 1]) for part, part_received in parts)
    ]


def _is_complete(part: Part, many: int | None) -> bool:
    """Return whether a hop that declares ``many`` fakes added all that the part's recipe requires.

    ``many`` is None if the hop declares that it drew no fakes.
    """
    if part.has_fixed_count:
        return many == part.mean_added
    if isinstance(part.recipe, Shape):
        few, _ = bound_fake_count(ShapedFakes(part.recipe), part.layout.bins)
        return many is not None and many >= part.mean_added - few
    return True


def restate_assumption(certificate: Certificate, hops: int, covered: Sequence[int]) -> Certificate:
    """Return the certificate with an assumption that names only the ``covered`` hops."""
    if len(covered) == hops:
        return certificate
    named = " or ".join(map(str, covered))
    words = (
        f"holds if hop {named} is honest; the other hops added fewer fakes than their recipe says"
    )
    return replace(certificate, assumption=words)

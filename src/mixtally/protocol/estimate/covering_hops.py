"""On whom the promise of a round still rests, by what its hops say they brought.

A hop whose job was altered, or who is lazy, brings fewer fakes than the contract counts on. Then
nothing hides behind it, however honest it is, and the words of the certificate name the others.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from mixtally.model.certificate import Certificate
from mixtally.model.contract import CountedRecipe, Part, Plan, Shape
from mixtally.model.mechanism import ShapedFakes
from mixtally.model.received import Received
from mixtally.protocol.estimate.received_fakes import bound_fake_count


def find_covering_hops(plan: Plan, received: Received) -> list[int]:
    """Hops, from 1, that say they brought all of their recipe in every part.

    Of shaped fakes an honest hop brings fewer less often than once in 10^9 rounds. Under a cover by
    people, all hops: what they bring is nothing.
    """
    parts = list(zip(plan.parts, received.parts, strict=True))
    return [
        hop
        for hop in range(1, plan.hops + 1)
        if all(_is_complete(part, came.declared[hop - 1]) for part, came in parts)
    ]


def _is_complete(part: Part, many: int | None) -> bool:
    if isinstance(part.recipe, CountedRecipe):
        return many == part.recipe.count
    if isinstance(part.recipe, Shape):
        few, _ = bound_fake_count(ShapedFakes(part.recipe), part.layout.bins)
        return many is not None and many >= part.mean_added - few
    return True


def restate_assumption(certificate: Certificate, hops: int, covered: Sequence[int]) -> Certificate:
    """The certificate, its words of mixes those of the ones that brought what it counts on."""
    if len(covered) == hops:
        return certificate
    named = " or ".join(map(str, covered))
    words = f"holds if hop {named} is honest: the others brought less than their recipe"
    return replace(certificate, assumption=words)

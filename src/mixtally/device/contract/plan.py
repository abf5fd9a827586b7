"""The plan of a contract: the question, the mechanism of each part, and the guarantee."""

import sys
from typing import NamedTuple

from mixtally.device.contract.fields import Fields, check_version, make_refusal
from mixtally.device.contract.grid import ContractGrid, read_grid
from mixtally.device.contract.part import ContractPart, read_part
from mixtally.device.contract.question import (
    Prefixes,
    Question,
    read_edges,
    read_prefixes,
    read_question,
)

VERSION = 6
_FIELDS = (
    "version question edges grid prefixes guarantee users minimum_crowd honest_share count_flips "
    "collections hops cover parts certificate local_epsilon"
)
MOST_USERS = 10_000_000_000
MOST_HOPS = 5
_LARGEST = sys.float_info.max


class ContractPlan(NamedTuple):
    """The plan of a contract, independent of the operators that run it.

    Attributes
    ----------
    edges : tuple of float or None
        If a bin is a range of numbers: the ascending boundaries of the ranges.
    grid : ContractGrid or None
        The grid to whose points numbers are rounded at random.
    prefixes : Prefixes or None
        If words are asked by prefixes: how many prefixes and symbols a round may have.
    epsilon, delta : float
        The guarantee, for all parts and all collections together.
    upper : float
        The upper bound of delta that the certificate states.
    assumption : str
        Who must be trusted for the certificate, in words.
    local_epsilon : float or None
        The epsilon that remains if all hops collude with the collector. None means infinity.
    count_flips : bool
        Whether the guarantee relies on other people's flips or replaced values.
    by_mixes : bool
        Whether every hop provides the cover: fakes.
    """

    question: Question
    edges: tuple[float, ...] | None
    grid: ContractGrid | None
    prefixes: Prefixes | None
    epsilon: float
    delta: float
    users: int
    minimum_crowd: int
    count_flips: bool
    collections: int
    hops: int
    by_mixes: bool
    parts: tuple[ContractPart, ...]
    upper: float
    assumption: str
    local_epsilon: float | None

    @property
    def is_self_protecting(self) -> bool:
        """Whether each person is protected only by the flips of their own messages."""
        covered = self.by_mixes or self.count_flips or any(part.own for part in self.parts)
        return not covered


def read_plan(value: object) -> ContractPlan:
    """Read the plan; raise RefusedError if its fields contradict each other."""
    check_version(value, "plan", VERSION)
    fields = Fields(value, "plan", _FIELDS)
    question = read_question(fields.values["question"])
    edges = read_edges(fields.values["edges"], question.bins)
    grid = read_grid(fields.values["grid"], question.bins)
    prefixes = read_prefixes(fields.values["prefixes"], question.bins)
    ways = sum(one is not None for one in (edges, grid, prefixes, question.seed))
    if ways > 1 or (ways and question.kind != "one" and question.seed is None):
        raise make_refusal("several-encoders", "plan", "one way from a value to a bin", "several")
    epsilon, delta = _read_guarantee(fields.values["guarantee"])
    users = fields.whole("users", 2, MOST_USERS, "users-out-of-range")
    crowd = fields.whole("minimum_crowd", 1, MOST_USERS, "minimum-crowd-out-of-range")
    if crowd > users:
        raise make_refusal(
            "minimum-crowd-above-users", fields.at("minimum_crowd"), f"at most {users}", crowd
        )
    parts = tuple(
        read_part(part, f"part {place}") for place, part in enumerate(fields.items("parts"))
    )
    plan = ContractPlan(
        question,
        edges,
        grid,
        prefixes,
        epsilon,
        delta,
        users,
        crowd,
        fields.flag("count_flips"),
        fields.whole("collections", 1, 1000, "collections-out-of-range"),
        fields.whole("hops", 1, MOST_HOPS, "hops-out-of-range"),
        fields.choice("cover", "every mix|people", "unknown-cover") == "every mix",
        parts,
        *_read_certificate(fields.values["certificate"], epsilon, delta),
        _local_epsilon(fields),
    )
    _check_parts(plan)
    _check_cover(plan, fields)
    return plan


def _read_guarantee(value: object) -> tuple[float, float]:
    fields = Fields(value, "guarantee", "epsilon delta observer")
    epsilon = fields.number("epsilon", 0.01, 20.0, "epsilon-out-of-range")
    delta = fields.number("delta", 1e-15, 0.1, "delta-out-of-range")
    fields.choice("observer", "messages", "unknown-observer")
    return epsilon, delta


def _read_certificate(value: object, epsilon: float, delta: float) -> tuple[float, str]:
    """Return the upper bound and the assumption of a certificate."""
    place = "certificate"
    fields = Fields(value, place, "epsilon lower upper observer status source assumption")
    upper = fields.number("upper", 0.0, 1.0, "bounds-out-of-range")
    fields.number("lower", 0.0, upper, "bounds-out-of-range")
    fields.choice("observer", "messages", "unknown-observer")
    fields.choice("status", "proved", "not-proved")
    fields.text("source")
    assumption = fields.text("assumption")
    if (found := fields.number("epsilon", 0.0, _LARGEST, "other-epsilon")) != epsilon:
        raise make_refusal("other-epsilon", place, f"bounds at epsilon {epsilon:g}", found)
    if upper > delta:
        raise make_refusal("proved-above-promise", place, f"delta of at most {delta:g}", upper)
    return upper, assumption


def _local_epsilon(fields: Fields) -> float | None:
    if fields.values["local_epsilon"] is None:
        return None
    return fields.number("local_epsilon", 0.0, _LARGEST, "local-epsilon-out-of-range")


def _list_splits(question: Question) -> list[list[tuple[int, int | None, bool]]]:
    """Return all ways to send a record, each as a list of its messages.

    A message is a tuple: the number of its bins, the maximum number of bins that it sets (None for
    all), and whether it always names exactly one bin.
    """
    bins, one = question.bins, question.kind == "one"
    if question.kind == "bits":
        ways: list[list[tuple[int, int | None, bool]]] = [[(bins, None, False)]]
        return [*ways, [(1, None, False)] * bins, [(2, 1, True)] * bins]
    whole: list[tuple[int, int | None, bool]] = [(bins, question.max_set, one)]
    if question.attributes is None:
        return [whole]
    return [whole, [(size, 1, True) for size in question.attributes]]


def _list_slots(question: Question) -> list[tuple[int, int | None, bool]]:
    """Return the only way to send sampled slots of a record, in the form of ``_list_splits``.

    There is one part. It has two bins, no and yes, for each bit of a record of bits.
    """
    if question.kind == "bits":
        return [(2 * question.bins, question.bins, False)]
    return [(question.bins, question.max_set, False)]


def _check_parts(plan: ContractPlan) -> None:
    planes = plan.parts[0].planes if plan.parts else None
    bins = None if planes is None else planes.text_bins
    if plan.question.seed is not None and bins != plan.question.bins:
        raise make_refusal(
            "hashed-without-planes", "parts", "planes whose points are its bins", planes
        )

    def fits(part: ContractPart, bins: int, most: int | None, one: bool) -> bool:
        exact = part.threshold is None or (part.own is not None and part.own.uniform)
        padded = part.threshold is None and (part.most_set or 1) > 1
        # Only sets vary in size, and need pads in place of missing members.
        varied = plan.question.kind == "set" and plan.question.attributes is None
        fitting = part.is_full if not varied else padded and not part.is_full
        return (part.bins, part.most_set) == (bins, most) and (one or fitting or not exact)

    parts = plan.parts
    ways = _list_splits(plan.question)
    if parts and parts[0].slots is not None:
        ways = [_list_slots(plan.question)]
    for way in ways:
        pairs = zip(parts, way, strict=False)
        if len(way) == len(parts) and all(fits(part, *asked) for part, asked in pairs):
            return
    sizes = [part.bins for part in parts[:5]]
    raise make_refusal("parts-unfit", "parts", "one a record, or one a bit or attribute", sizes)


def _check_cover(plan: ContractPlan, fields: Fields) -> None:
    share = fields.number("honest_share", 1e-12, 1.0, "honest-share-out-of-range")
    if any(part.by_mixes != plan.by_mixes for part in plan.parts):
        raise make_refusal(
            "cover-unfit", "cover", "the one that its parts have", fields.values["cover"]
        )
    if plan.by_mixes:
        if plan.count_flips:
            raise make_refusal("flips-beside-mixes", "count_flips", "false", "true")
        return
    certain = count_honest(plan.minimum_crowd, share)
    if certain < 2:
        raise make_refusal(
            "too-few-honest", "minimum_crowd", "at least 2 honest people of it", certain
        )
    if not plan.count_flips and any(p.most_set is None and p.bins > 1 for p in plan.parts):
        expected = "true, because only other people's flips protect several free bits"
        raise make_refusal("free-bits-uncounted", "count_flips", expected, "false")
    if not plan.count_flips and any(part.replaced is not None for part in plan.parts):
        expected = "true, because the proof counts on other people's replaced values"
        raise make_refusal("replaced-uncounted", "count_flips", expected, "false")
    uniform = any(part.protocol == "flip-uniform" for part in plan.parts)
    if uniform and len(plan.parts) * plan.collections > 1:
        raise make_refusal("flip-uniform-repeated", "parts", "flip-uniform once", "more of it")


def count_honest(crowd: int, share: float) -> int:
    """Return ``share`` times ``crowd``, rounded down.

    The product is exact for the shortest decimal form of ``share``.
    """
    # Integers only: a product of doubles could be one too large or too small.
    digits, _, power = repr(share).partition("e")
    before, _, after = digits.partition(".")
    scale = len(after) - int(power or "0")
    return int(crowd * int(before + after) // 10**scale)

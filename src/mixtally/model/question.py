"""The question everyone is asked: what a record may hold, its bins in a fixed order."""

import re
from enum import StrEnum
from unicodedata import normalize

import msgspec

from mixtally.device.contract.question import MOST_POINTS
from mixtally.errors import ParameterError, PlanError, in_range
from mixtally.model.hashing import HMAC_SHA256, Hashing
from mixtally.model.strict_struct import StrictStructMeta

MOST_BINS = 10_000_000
MOST_SET = 16
MOST_TEXTS = 11
"""Of a set of texts: planes of larger sets, of twice as large a prime, do not fit in 8 bytes."""
MOST_BITS = 64
CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
"""Whatever moves a cursor or colors a screen, but for tabs and ends of lines; halves of characters,
which no file or terminal can be given."""


class Kind(StrEnum):
    """What a record may hold."""

    ONE = "one"
    """Exactly one of the bins."""
    SET = "set"
    """At most ``max_set`` of the bins; one of each attribute if there are attributes."""
    BITS = "bits"
    """Any of the bins: a free vector of bits, a single bit included."""


def check_bins(bins: int, least: int = 2) -> int:
    """``bins`` itself when it lies in [``least``, 10^7]; raises ParameterError otherwise."""
    in_range(
        "bins",
        bins,
        least,
        MOST_BINS,
        "ask an open domain: its texts need no list"
        if bins > MOST_BINS
        else "one bin has nothing to tell",
    )
    return bins


class Question(
    msgspec.Struct,
    metaclass=StrictStructMeta,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
):
    """What is asked: each person's record sets some of ``bins`` bins.

    where
      labels       name the bins in order; None leaves them numbered from 0
      kind         what a record may hold
      max_set      the most bins that a record of kind ``set`` sets, in [1, 16]
      attributes   how many bins each attribute has, in order; None without attributes
      hashed       how texts of an open domain become points, as many as ``bins``; None where each
                   bin is one value

    Raises ParameterError for numbers outside their ranges, PlanError for parts that do not fit.
    """

    name: str
    bins: int
    labels: tuple[str, ...] | None = None
    kind: Kind = Kind.ONE
    max_set: int = 1
    attributes: tuple[int, ...] | None = None
    hashed: Hashing | None = None

    def __post_init__(self) -> None:
        if self.kind is Kind.BITS and not 1 <= self.bins <= MOST_BITS:
            raise ParameterError(
                "bits",
                expected=f"an integer in [1, {MOST_BITS}]",
                got=f"{self.bins:,}",
                do="ask fewer bits at once",
            )
        if self.hashed is None:
            check_bins(self.bins, 1 if self.kind is Kind.BITS else 2)
        else:
            in_range("points", self.bins, 2, MOST_POINTS, "plan again")
        self._check_kind()
        other = self.kind is Kind.BITS or (self.labels or self.attributes) is not None
        if self.hashed is not None and other:
            raise PlanError(
                f"hashed question {self.name!r}",
                expected="one value a record or a set of them, bins without labels",
                got=f"kind {self.kind}" + ", with labels" * (self.labels is not None),
                do="values are looked for by name when they are counted",
            )
        texts = (self.name, *(self.labels or ()))
        if CONTROL_CHARACTERS.search("".join(texts)):
            raise PlanError(
                "question",
                expected="whole characters, a name and labels without control characters",
                got=repr(next(filter(CONTROL_CHARACTERS.search, texts))),
                do="clean the text: a terminal would obey it, or have no way to show it",
            )
        if self.labels is None:
            return
        distinct = len({normalize("NFC", label) for label in self.labels})
        if len(self.labels) != self.bins or distinct != self.bins or "" in self.labels:
            raise PlanError(
                f"labels of question {self.name!r}",
                expected=f"{self.bins:,} distinct, non-empty labels, one per bin",
                got=f"{len(self.labels):,} labels, {distinct:,} distinct",
                do="name every bin once",
            )

    def _check_kind(self) -> None:
        most = min(MOST_SET, self.bins) if self.kind is Kind.SET else 1
        if not 1 <= self.max_set <= most:
            raise ParameterError(
                "max set",
                expected=f"an integer in [1, {most}] for a question of kind {self.kind}",
                got=self.max_set,
                do="it is the most bins that a set has",
            )
        if self.attributes is not None and (
            self.kind is not Kind.SET
            or sum(self.attributes) != self.bins
            or len(self.attributes) != self.max_set
            or min(self.attributes) < 2
        ):
            raise PlanError(
                f"attributes of question {self.name!r}",
                expected=f"a set of {self.max_set} with at least two bins each, {self.bins:,} "
                f"in all",
                got=f"{list(self.attributes)}",
                do="say how many bins each attribute has",
            )

    @property
    def most_changed(self) -> int:
        """The most bins whose counts change by one when one person's record is replaced."""
        return self.bins if self.kind is Kind.BITS else min(2 * self.max_set, self.bins)

    def label(self, bin_index: int) -> str:
        """What bin ``bin_index`` is called."""
        return self.labels[bin_index] if self.labels else str(bin_index)


def make_attributes_question(
    name: str, bins: tuple[int, ...], labels: tuple[str, ...] | None = None
) -> Question:
    """A record with one of ``bins[i]`` values in every attribute i; a single one is no set."""
    if len(bins) > MOST_SET:
        raise ParameterError(
            "attributes",
            expected=f"at most {MOST_SET}",
            got=len(bins),
            do="ask fewer at once, or in several collections",
        )
    for one in bins:
        check_bins(one)
    if len(bins) == 1:
        return Question(name=name, bins=bins[0], labels=labels)
    return Question(
        name=name,
        bins=sum(bins),
        labels=labels,
        kind=Kind.SET,
        max_set=len(bins),
        attributes=bins,
    )


def make_open_question(name: str, seed: str, max_set: int = 1) -> Question:
    """One text a record, whatever it is, or up to ``max_set``; a plan says by how many points texts
    are told apart. Raises ParameterError for more than 11.
    """
    in_range("max set", max_set, 1, MOST_TEXTS, "planes of larger sets do not fit in 8 bytes")
    return Question(
        name=name,
        bins=MOST_POINTS,
        kind=Kind.ONE if max_set == 1 else Kind.SET,
        max_set=max_set,
        hashed=Hashing(function=HMAC_SHA256, seed=seed),
    )

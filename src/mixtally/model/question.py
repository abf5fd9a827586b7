"""Questions: the values that a record may have, as bins in a fixed order."""

from enum import StrEnum
from unicodedata import normalize

import msgspec

from mixtally.device.contract.question import CONTROL_CHARACTERS, MOST_POINTS
from mixtally.device.contract.question import MOST_BINS as MOST_BINS
from mixtally.device.contract.question import MOST_BITS as MOST_BITS
from mixtally.device.contract.question import MOST_SET as MOST_SET
from mixtally.errors import ParameterError, PlanError, in_range, pluralize
from mixtally.model.hashing import HMAC_SHA256, Hashing
from mixtally.model.strict_struct import StrictStructMeta


class Kind(StrEnum):
    """What a record may contain."""

    ONE = "one"
    """Exactly one of the bins."""
    SET = "set"
    """At most ``max_set`` of the bins; with attributes, one of each attribute."""
    BITS = "bits"
    """Any of the bins: a vector of free bits, possibly a single one."""


def check_bins(bins: int, least: int = 2) -> int:
    """Return ``bins``, or raise ParameterError if it is not in [``least``, 10^7]."""
    in_range(
        "bins",
        bins,
        least,
        MOST_BINS,
        "use an open domain, which needs no list of labels"
        if bins > MOST_BINS
        else "a question needs at least two bins",
    )
    return bins


class Question(
    msgspec.Struct,
    metaclass=StrictStructMeta,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
):
    """A question, for which each person's record sets some of ``bins`` bins.

    Parameters
    ----------
    name : str
        The name of the question.
    bins : int
        The number of bins, 1 to 64 for bits and 2 to 10^7 otherwise.
    labels : tuple of str or None
        The names of the bins in order. None if bins are numbered from 0.
    kind : Kind
        What a record may contain.
    max_set : int
        The maximum number of bins in a record of kind ``set``, in [1, 16].
    attributes : tuple of int or None
        The number of bins of each attribute, in order.
    hashed : Hashing or None
        The hash that maps texts of an open domain to ``bins`` points. None if each bin is one
        value.

    Raises
    ------
    ParameterError
        If a number is outside its range.
    PlanError
        If the fields contradict each other.

    Examples
    --------
    >>> import mixtally
    >>> question = mixtally.Question(name="tea", bins=2, labels=("yes", "no"))
    >>> question.label(1)
    'no'
    >>> question.most_changed
    2
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
                do="leave out the labels; values are named when they are counted",
            )
        texts = (self.name, *(self.labels or ()))
        if CONTROL_CHARACTERS.search("".join(texts)):
            raise PlanError(
                "question",
                expected="whole characters, a name and labels without control characters",
                got=repr(next(filter(CONTROL_CHARACTERS.search, texts))),
                do="remove these characters, which a terminal would obey or could not show",
            )
        if self.labels is None:
            return
        # Labels that look equal must count as equal even if their code points differ.
        distinct = len({normalize("NFC", label) for label in self.labels})
        if len(self.labels) != self.bins or distinct != self.bins or "" in self.labels:
            raise PlanError(
                f"labels of question {self.name!r}",
                expected=f"{self.bins:,} distinct, non-empty labels, one per bin",
                got=f"{pluralize(len(self.labels), 'label')}, {distinct:,} distinct",
                do="name every bin once",
            )

    def _check_kind(self) -> None:
        # Bits that are sent as slots of one record are as many attributes of two bins.
        largest = MOST_SET if self.attributes is None else MOST_BITS
        most = min(largest, self.bins) if self.kind is Kind.SET else 1
        if not 1 <= self.max_set <= most:
            raise ParameterError(
                "max set",
                expected=f"an integer in [1, {most}] for a question of kind {self.kind}",
                got=self.max_set,
                do="it is the maximum number of bins in a set",
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
                do="give the number of bins of each attribute",
            )

    @property
    def most_changed(self) -> int:
        """The maximum number of counts that change by one if a person's record is replaced."""
        return self.bins if self.kind is Kind.BITS else min(2 * self.max_set, self.bins)

    def label(self, bin_index: int) -> str:
        """Return the name of the bin ``bin_index``.

        Parameters
        ----------
        bin_index : int
            The number of the bin, from 0.

        Returns
        -------
        str
            The label, or the number of the bin as text if bins have no labels.
        """
        return self.labels[bin_index] if self.labels else str(bin_index)


def make_attributes_question(
    name: str, bins: tuple[int, ...], labels: tuple[str, ...] | None = None
) -> Question:
    """Return the question for a record with one value in each attribute.

    A single attribute gives a question of kind ``one``.

    Parameters
    ----------
    name : str
        The name of the question.
    bins : tuple of int
        The number of values of each attribute.
    labels : tuple of str or None
        The labels of all values, attribute by attribute; None for numbers.
    """
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
    """Return the question for a text, or for several texts, of an open domain.

    The planner chooses the number of points. Raise ParameterError for more than 16 texts.

    Parameters
    ----------
    name : str
        The name of the question.
    seed : str
        The key of the hash, as text.
    max_set : int
        The maximum number of texts, in [1, 16].
    """
    in_range("max set", max_set, 1, MOST_SET, "it is the maximum number of texts in a set")
    return Question(
        name=name,
        bins=MOST_POINTS,
        kind=Kind.ONE if max_set == 1 else Kind.SET,
        max_set=max_set,
        hashed=Hashing(function=HMAC_SHA256, seed=seed),
    )

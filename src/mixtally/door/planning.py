"""``plan``: the plan of least error for a question, as an object that people can read."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mixtally.app.limits import BudgetOptions, wish_of
from mixtally.app.plans import promise_lines
from mixtally.data.sameness import composed
from mixtally.door import checks
from mixtally.door.files import file_at, write
from mixtally.door.labels import labels_of
from mixtally.door.promise import guarantee_of
from mixtally.encode.numbers import Scale
from mixtally.errors import DataError, ParameterError
from mixtally.planner import choose, forecast
from mixtally.privacy.accountant import Accountant
from mixtally.privacy.terms import verify
from mixtally.records.certificate import Certificate
from mixtally.records.contract import Plan as Record
from mixtally.records.contract import read_plan, write_plan
from mixtally.records.question import Kind, Question, with_attributes
from mixtally.report.document import Promise
from mixtally.report.svg import el
from mixtally.report.words import promise
from mixtally.store.files import read_whole

Shape = Question | int | Sequence[str] | Mapping[str, Sequence[str]]


class Plan:
    """A plan and what it promises: made by ``plan``, or read from a file with ``Plan.load``.

    where
      record   all of it, as files have it
      reason   why it was chosen; empty when it was read from a file
    """

    def __init__(self, record: Record, reason: str = "") -> None:
        self.record, self.reason = record, reason

    @property
    def question(self) -> Question:
        """What people are asked."""
        return self.record.question

    @property
    def certificate(self) -> Certificate:
        """What is proved of everything that one person sends, over all collections."""
        return self.record.certificate

    @property
    def users(self) -> int:
        """People expected to take part."""
        return self.record.users

    @property
    def error(self) -> float:
        """Standard error of one count, in counts."""
        return self.record.standard_error

    @property
    def fingerprint(self) -> str:
        """SHA-256 of its file."""
        return self.record.fingerprint

    @property
    def promise(self) -> str:
        """What is promised, to whom, and what it rests on, in words."""
        return "\n\n".join(promise(self.record))

    @checks.in_python
    def save(self, path: str | Path) -> list[Path]:
        """Write it as ``mixtally plan --out`` does.

        Raises DataError when the disk refuses.

        >>> mixtally.plan(3, epsilon=1, delta=1e-6, users=10_000).save("fruit.json")
        """
        place = file_at(path)
        return write(place.parent, {place.name: write_plan(self.record)})

    @classmethod
    @checks.in_python
    def load(cls, path: str | Path) -> "Plan":
        """The plan in a file, its certificate proved again.

        Raises DataError for a file that cannot be read, PlanError for one that is no plan, was
        altered, or promises what is not true.

        >>> mixtally.Plan.load("fruit.json")
        """
        place = file_at(path)
        try:
            data = read_whole(place)
        except OSError as error:
            raise DataError(
                str(place), wanted="a plan", got=str(error), do="write one with Plan.save"
            ) from error
        found = read_plan(data, str(place))
        verify(found, Accountant())
        return cls(found)

    @checks.in_python
    def lines(self) -> Promise:
        """The promise in three lines: hidden from whom, at what price, with which error."""
        return promise_lines(self.record, forecast(self.record))

    def __repr__(self) -> str:
        what = f"{self.question.name}: {self.record.name}, {self.question.bins:,} bins, "
        cost = f"{self.record.messages_per_user:.3f} messages a user"
        return "\n".join([*self.lines(), what + cost])

    def _repr_html_(self) -> str:
        return "".join(el("p", line) for line in repr(self).splitlines())


@checks.in_python
@checks.takes(BudgetOptions)
def plan(
    question: Shape,
    *,
    epsilon: float,
    delta: float,
    users: int,
    max_set: int | None = None,
    kind: str | None = None,
    name: str = "answer",
    low: float | None = None,
    high: float | None = None,
    **options: Any,
) -> Plan:
    """The plan of least error that keeps a guarantee.

    where
      question   how many bins there are, or their labels, or labels by attribute; or a ``Question``
      epsilon    the largest privacy loss, in [0.01, 20]
      delta      the chance left over, in [1e-15, 0.1]
      users      people expected to take part, 2 to 10^10
      max_set    the most labels that one person sets; None for exactly one
      kind       "bits" when everybody answers no or yes to every label
      name       what the question is called
      low, high  cut numbers into so many bins between these ends
      options    what it may cost and whom it may trust

    Raises InfeasibleError when nothing fits, ParameterError for a number outside its range,
    PlanError for labels that are no labels.

    >>> mixtally.plan(["yes", "no"], epsilon=1, delta=1e-6, users=10_000)
    """
    called, wanted = checks.text("name", name), guarantee_of(epsilon, delta)
    budget, crowd = checks.made(BudgetOptions, options), checks.whole("users", users)
    edges: tuple[float, ...] | None = None
    if low is None and high is None:
        asked = question_of(question, name=called, kind=kind, max_set=max_set)
    else:
        asked, edges = _numbers(question, called, low, high, kind, max_set)
    answer = choose(wish_of(budget, asked, wanted, crowd, edges=edges))
    return Plan(answer.plan, answer.reason)


def _numbers(
    shape: object, name: str, low: object, high: object, *others: object
) -> tuple[Question, tuple[float, ...]]:
    """The question of numbers that are cut into bins, and where."""
    scale = scale_of(shape, low, high)
    if scale is None or any(other is not None for other in others):
        raise ParameterError(
            "question",
            wanted="numbers between two ends alone",
            got="kind or max_set beside them",
            do="leave these out",
        )
    edges = tuple(map(float, scale.edges))
    return Question(name=name, bins=scale.bins, labels=scale.labels), edges


def scale_of(bins: object, low: object, high: object) -> Scale | None:
    """Where numbers are cut; None when nothing is said, ParameterError when a part is missing."""
    given = {"bins": bins, "low": low, "high": high}
    left = [name for name, value in given.items() if value is None]
    if len(left) == len(given):
        return None
    if left:
        raise ParameterError(
            "numbers",
            wanted="bins, low and high",
            got="no " + " and no ".join(left),
            do="say into how many bins numbers are cut, and where they end",
        )
    ends = checks.number("low", low), checks.number("high", high)
    return Scale(*ends, checks.whole("bins", bins))


def question_of(shape: object, *, name: str, kind: object, max_set: object) -> Question:
    """The question that ``shape`` stands for; raises as ``plan`` does."""
    bits = checks.maybe_chosen("kind", kind, ["bits", "one", "set"]) == "bits"
    most = checks.maybe_whole("max set", max_set)
    if kind == "set" and most is None:
        raise ParameterError(
            "max set", wanted="the most labels that one person sets", got="none", do="max_set=3"
        )
    if isinstance(shape, Question | Mapping):
        if kind is not None or most is not None:
            raise ParameterError(
                "question",
                wanted="a question or attributes alone",
                got="kind or max_set beside them",
                do="leave these out",
            )
        return shape if isinstance(shape, Question) else _attributes(shape, name)
    labels: tuple[str, ...] | None = None
    if isinstance(shape, list | tuple):
        labels = labels_of("labels", shape)
        bins = len(labels)
    else:
        bins = checks.whole("bins", shape)
    kinds = Kind.BITS if bits else Kind.ONE if most is None else Kind.SET
    return Question(name=name, bins=bins, labels=labels, kind=kinds, max_set=most or 1)


def _attributes(shape: Mapping[str, Sequence[str]], name: str) -> Question:
    """A record with one label of each attribute."""
    labels: list[str] = []
    sizes: list[int] = []
    for column, given in shape.items():
        if not isinstance(given, list | tuple):
            raise ParameterError(
                f"attribute {column!r}",
                wanted="a list of its labels",
                got=checks.shown(given),
                do="list what a person may answer",
            )
        texts = labels_of(f"labels of {column!r}", given)
        labels += [composed(f"{column}={label}") for label in texts]
        sizes.append(len(texts))
    return with_attributes(name, tuple(sizes), tuple(labels))

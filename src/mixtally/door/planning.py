"""``plan``: the plan of least error for a question, as an object that people can read."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mixtally.app.approval_details import details_of
from mixtally.app.contracts import contract_of, network_of, read_network
from mixtally.app.elsewhere import elsewhere
from mixtally.app.limits import BudgetOptions, wish_of
from mixtally.app.plans import contract_file, plan_file, promise_lines
from mixtally.data.sameness import composed
from mixtally.door import checks
from mixtally.door.files import file_at, write
from mixtally.door.labels import labels_of
from mixtally.door.promise import guarantee_of
from mixtally.encode.numbers import Points, Range, Scale
from mixtally.errors import DataError, ParameterError
from mixtally.planner import Planner, choose, forecast, of_mean
from mixtally.privacy.accountant import Accountant
from mixtally.privacy.terms import verify
from mixtally.records.certificate import Certificate
from mixtally.records.contract import Plan as Record
from mixtally.records.contract import read_plan
from mixtally.records.question import Kind, Question, with_attributes
from mixtally.report.document import Promise
from mixtally.report.svg import el
from mixtally.report.words import promise
from mixtally.store.files import read_whole

Shape = Question | int | Sequence[str] | Mapping[str, Sequence[str]] | None


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
    def mean_error(self) -> float | None:
        """Standard error of the mean of numbers that are rounded; None where none are."""
        found = of_mean(self.record)
        return None if found is None else found.standard_error

    @property
    def fingerprint(self) -> str:
        """SHA-256 of its file."""
        return self.record.fingerprint

    @property
    def promise(self) -> str:
        """What is promised, to whom, and what it assumes, in words."""
        return "\n\n".join(promise(self.record))

    @property
    def elsewhere(self) -> dict[str, float]:
        """Standard errors of the same guarantee in other models, by their names."""
        return {one.model: one.standard_error for one in elsewhere(self.record)}

    @checks.in_python
    def save(
        self, path: str | Path, approval: str | Path | Mapping[str, object] | None = None
    ) -> list[Path]:
        """Write the plan to a file, or its page for approval.

        Parameters
        ----------
        path : str or Path
            The file; a page for approval if its name ends in .html or .md.
        approval : str, Path, Mapping or None
            What the page states besides the plan, as a TOML file or as a dict with its fields:
            purpose, legal_basis, retention, contact, version, date, sign_off.

        Returns
        -------
        list of Path
            The file that was written.

        Raises
        ------
        DataError
            If a file cannot be read or written.
        ParameterError
            If ``approval`` is given for a file that is no page.
        PlanError
            If ``approval`` has an unknown field.

        Examples
        --------
        >>> plan = mixtally.plan(3, epsilon=1, delta=1e-6, users=10_000)
        >>> plan.save("fruit.json")
        >>> plan.save("fruit.md", approval={"purpose": "Buy the right fruit."})
        """
        place = file_at(path)
        details = None if approval is None else details_of(approval)
        return write(place.parent, {place.name: plan_file(self.record, place, details)})

    @checks.in_python
    def save_contract(
        self,
        path: str | Path,
        network: str | Path | Mapping[str, object],
        approval: str | Path | Mapping[str, object] | None = None,
    ) -> list[Path]:
        """Write the contract of the plan and of who runs it, or its page for approval.

        Plan with ``hops`` for as many mixes as the network names.

        Parameters
        ----------
        path : str or Path
            The file; a page for approval if its name ends in .html or .md.
        network : str, Path or Mapping
            Who runs the plan, as a TOML file or as a dict with its fields.
        approval : str, Path, Mapping or None
            What the page states besides the plan, as ``save`` takes it.

        Returns
        -------
        list of Path
            The file that was written.

        Raises
        ------
        DataError
            If a file cannot be read or written.
        ParameterError
            If ``approval`` is given for a file that is no page.
        PlanError
            If the network or ``approval`` has an unknown field, or the number of mixes differs.

        Examples
        --------
        >>> plan = mixtally.plan(3, epsilon=1, delta=1e-6, users=10_000, hops=3)
        >>> plan.save_contract("contract.json", "network.toml")
        """
        place = file_at(path)
        if isinstance(network, Mapping):
            subject, run = "network", network_of(dict(network), "network")
        else:
            subject, run = str(file_at(network)), read_network(file_at(network))
        contract = contract_of(self.record, run, subject)
        details = None if approval is None else details_of(approval)
        return write(place.parent, {place.name: contract_file(contract, place, details)})

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
        cost = f"{self.record.messages_per_user:.3f} messages per user"
        return "\n".join([*self.lines(), what + cost])

    def _repr_html_(self) -> str:
        return "".join(el("p", line) for line in repr(self).splitlines())


@checks.in_python
@checks.takes(BudgetOptions)
def plan(
    question: Shape = None,
    *,
    epsilon: float,
    delta: float,
    users: int,
    max_set: int | None = None,
    kind: str | None = None,
    name: str = "answer",
    points: int | None = None,
    low: float | None = None,
    high: float | None = None,
    **options: Any,
) -> Plan:
    """The plan of least error that keeps a guarantee.

    where
      question   how many bins there are, or their labels, or labels by attribute; or a ``Question``
                 itself; None for numbers that are rounded
      epsilon    the largest privacy loss, in [0.01, 20]
      delta      of the (epsilon, delta) guarantee, in [1e-15, 0.1]
      users      people expected to take part, 2 to 10^10
      max_set    the most labels that one person sets; None for exactly one
      kind       "bits" when everybody answers no or yes to every label
      name       what the question is called
      low, high  where numbers end: rounded at random to ``points``, or cut into so many bins
      points     2 to 10^6; as many as give the mean the least error when left out
      options    what it may cost and whom it may trust, as ``hops=3`` mixes in a row

    Raises InfeasibleError when nothing fits, ParameterError for a number outside its range,
    PlanError for labels that are no labels.

    >>> mixtally.plan(["yes", "no"], epsilon=1, delta=1e-6, users=10_000)
    """
    called, wanted = checks.text("name", name), guarantee_of(epsilon, delta)
    budget, crowd = checks.made(BudgetOptions, options), checks.whole("users", users)
    planner, scale = Planner(), None
    if low is None and high is None and points is None:
        asked = question_of(question, name=called, kind=kind, max_set=max_set)
    else:
        asked, scale = _numbers(question, called, points, low, high, kind, max_set)
    answer = choose(wish_of(budget, asked, wanted, crowd, scale=scale, planner=planner), planner)
    return Plan(answer.plan, answer.reason)


def _numbers(
    shape: object, name: str, points: object, low: object, high: object, *others: object
) -> tuple[Question, Range]:
    """The question of numbers, and the bins they are cut into or the points of their rounding."""
    scale = scale_of(shape, points, low, high)
    if scale is None or any(other is not None for other in others):
        raise ParameterError(
            "question",
            wanted="numbers between two ends alone",
            got="kind or max_set beside them",
            do="leave these out",
        )
    if isinstance(scale, Scale):
        return Question(name=name, bins=scale.bins, labels=scale.labels), scale
    return Question(name=name, bins=2), scale  # until its points are chosen


def scale_of(bins: object, points: object, low: object, high: object) -> Range | None:
    """The bins or the points of numbers; None when nothing is said.

    Raises ParameterError when an end is missing, or for both bins and points.
    """
    if bins is points is low is high is None:
        return None
    left = [name for name, value in {"low": low, "high": high}.items() if value is None]
    if left or None not in (bins, points):
        raise ParameterError(
            "numbers",
            wanted="low and high, and either bins or points if any",
            got="no " + " and no ".join(left) if left else "bins and points",
            do="say where numbers end: they are rounded to points, or cut into bins",
        )
    ends = checks.number("low", low), checks.number("high", high)
    if bins is None:
        return Points(*ends, checks.maybe_whole("points", points))
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

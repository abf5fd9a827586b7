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
Ends = tuple[float, float]
"""Where numbers end, the lower first."""


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
    bins: int | None = None,
    labels: Shape = None,
    max_set: int | None = None,
    kind: str | None = None,
    name: str = "answer",
    number: Ends | None = None,
    points: int | None = None,
    **options: Any,
) -> Plan:
    """The plan of least error that keeps a guarantee.

    where
      question   how many bins there are, or their labels, or labels by attribute; or a ``Question``
                 itself; None where ``bins``, ``labels`` or ``number`` say it
      bins       how many bins there are, or into how many numbers are cut
      labels     the labels of the bins, or a dict of the labels of each attribute
      epsilon    the largest privacy loss, in [0.01, 20]
      delta      of the (epsilon, delta) guarantee, in [1e-15, 0.1]
      users      people expected to take part, 2 to 10^10
      max_set    the most labels that one person sets; None for exactly one
      kind       "bits" when everybody answers no or yes to every label
      name       what the question is called
      number     (low, high), where numbers end: they are rounded at random to ``points``, or cut
                 into ``bins``
      points     2 to 10^6; as many as give the mean the least error when left out
      options    what it may cost and whom it may trust, as ``hops=3`` mixes in a row

    Raises InfeasibleError when nothing fits, ParameterError for a number outside its range,
    PlanError for labels that are no labels.

    >>> mixtally.plan(["yes", "no"], epsilon=1, delta=1e-6, users=10_000)
    """
    called, wanted = checks.text("name", name), guarantee_of(epsilon, delta)
    budget, crowd = checks.made(BudgetOptions, options), checks.whole("users", users)
    planner, scale, shape = Planner(), None, _shape(question, bins, labels)
    if number is None and points is None:
        asked = question_of(shape, name=called, kind=kind, max_set=max_set)
    else:
        asked, scale = _numbers(shape, called, points, number, kind, max_set)
    answer = choose(wish_of(budget, asked, wanted, crowd, scale=scale, planner=planner), planner)
    return Plan(answer.plan, answer.reason)


def _shape(question: object, bins: object, labels: object) -> object:
    """Return what was given of three ways to say what a record may hold; None for none.

    Raises ParameterError for more than one of them, and for bins or labels of another type.
    """
    ways = {"question": question, "bins": bins, "labels": labels}
    given = [name for name, value in ways.items() if value is not None]
    if len(given) > 1:
        raise ParameterError(
            "question",
            wanted="bins, or labels, or a question",
            got=" and ".join(given),
            do="say in one way what a record may hold",
        )
    if bins is not None:
        return checks.whole("bins", bins)
    if labels is not None and not isinstance(labels, list | tuple | Mapping):
        raise ParameterError(
            "labels", wanted="a list of labels", got=checks.shown(labels), do='["yes", "no"]'
        )
    return question if labels is None else labels


def _numbers(
    shape: object, name: str, points: object, number: object, *others: object
) -> tuple[Question, Range]:
    """The question of numbers, and the bins they are cut into or the points of their rounding."""
    scale = scale_of(shape, points, number)
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


def scale_of(bins: object, points: object, number: object) -> Range | None:
    """Return the bins or the points of numbers; None when nothing is said.

    Raises ParameterError for ends that are missing or no pair, and for both bins and points.
    """
    if bins is points is number is None:
        return None
    if number is None or None not in (bins, points):
        raise ParameterError(
            "number",
            wanted="where numbers end, and either bins or points if any",
            got="no ends" if number is None else "bins and points",
            do="number=(0, 10): numbers are rounded to points, or cut into bins",
        )
    if not isinstance(number, list | tuple) or len(number) != 2:
        raise ParameterError(
            "number", wanted="two ends, low and high", got=checks.shown(number), do="number=(0, 10)"
        )
    ends = checks.number("low end", number[0]), checks.number("high end", number[1])
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

"""The plan of least error for a question, with its guarantee and its expected errors.

``plan`` turns keyword arguments into the request that the command line also makes. ``Plan`` shows
what the planner returns, and writes and reads the files of plans.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from mixtally.accounting.accountant import Accountant
from mixtally.accounting.plans.terms import verify
from mixtally.api import checks
from mixtally.api.files import contract_bytes, file_at, write_files
from mixtally.api.labels import as_list, labels_of
from mixtally.api.requests import ends_of, read_request
from mixtally.app import plan as use
from mixtally.app.contracts import contract_of, read_network
from mixtally.app.model_comparison import compare_models
from mixtally.app.plan import PlanOptions
from mixtally.app.plans import contract_file, details_of, plan_file
from mixtally.errors import InfeasibleError, ParameterError, not_together
from mixtally.lab.data.label_merging import normalize_nfc
from mixtally.model.certificate import Certificate
from mixtally.model.contract import Plan as Record
from mixtally.model.contract import fingerprint_of, read_contract, read_plan
from mixtally.model.question import Kind, Question
from mixtally.planning import Forecast, Relaxations, explain, forecast, forecast_mean
from mixtally.primitives.files import read_bytes
from mixtally.protocol.encode.numbers import Points, Range, Scale
from mixtally.report.document import Promise
from mixtally.report.promise import promise_of_plan
from mixtally.report.svg import el
from mixtally.report.words import promise_paragraphs

Shape = Question | int | Sequence[str] | Mapping[str, Sequence[str]] | None
Ends = tuple[float, float]
"""The ends of a range of numbers, the lower end first."""


class Plan:
    """A plan of a private collection, with its proved guarantee and its expected errors.

    ``mixtally.plan`` and ``Plan.load`` return plans.

    Parameters
    ----------
    record : mixtally.model.contract.Plan
        All fields of the plan, as files contain them.
    reason : str
        The reason for which the planner chose this plan. Empty if the plan was read from a file.
    level : float
        Confidence level of the expected errors, in (0, 1).

    Examples
    --------
    >>> import mixtally
    >>> plan = mixtally.plan(["yes", "no"], epsilon=1, delta=1e-6, users=1_000)
    >>> plan.question.labels
    ('yes', 'no')
    >>> round(plan.error, 2)
    4.61
    """

    def __init__(self, record: Record, reason: str = "", level: float = 0.95) -> None:
        if not isinstance(record, Record):
            raise ParameterError(
                "plan",
                expected="the fields of a finished plan",
                got=checks.describe_value(record),
                do="make a plan with mixtally.plan, or read a file with mixtally.Plan.load",
            )
        self.record, self.reason, self.level = record, reason, level

    @property
    def question(self) -> Question:
        """The question that people are asked."""
        return self.record.question

    @property
    def certificate(self) -> Certificate:
        """The proved delta of everything that one person sends, over all collections."""
        return self.record.certificate

    @property
    def users(self) -> int:
        """The number of people who are expected to take part."""
        return self.record.users

    @property
    def error(self) -> float:
        """The standard error of one count, in people."""
        return self.record.standard_error

    @property
    def mean_error(self) -> float | None:
        """The standard error of the mean if numbers are rounded; None for other questions."""
        found = forecast_mean(self.record)
        return None if found is None else found.standard_error

    @property
    def forecast(self) -> Forecast:
        """The expected errors of a single count and of all counts, in people.

        They are for the confidence level of the plan.
        """
        return forecast(self.record, self.level)

    @property
    def explanation(self) -> dict[str, str]:
        """A dict from the name of each number of the plan to a text about its source."""
        return explain(self.record)

    @property
    def fingerprint(self) -> str:
        """The SHA-256 digest of the plan's file."""
        return self.record.fingerprint

    @property
    def promise(self) -> str:
        """The guarantee in words, with its observer and its assumptions."""
        return "\n\n".join(promise_paragraphs(self.record))

    @property
    def elsewhere(self) -> dict[str, float]:
        """The standard error of one count in other models, such as the central model.

        A dict from the name of a model to its error, in people. All models have the plan's
        guarantee.
        """
        return {one.model: one.standard_error for one in compare_models(self.record)}

    @checks.translate_errors
    def save(
        self, path: str | Path, approval: str | Path | Mapping[str, object] | None = None
    ) -> list[Path]:
        """Write the plan to a file, or write its approval page, which people read and sign.

        Parameters
        ----------
        path : str or Path
            The file to write. If the name ends in .html or .md, an approval page is written.
        approval : str, Path, Mapping or None
            Further statements for the page, as a TOML file or as a mapping with its fields:
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
            If ``approval`` is given and the file is not a page.
        PlanError
            If ``approval`` has an unknown field.

        Examples
        --------
        >>> import mixtally
        >>> plan = mixtally.plan(3, epsilon=1, delta=1e-6, users=10_000)
        >>> [path.name for path in plan.save("fruit.json")]
        ['fruit.json']
        >>> [path.name for path in plan.save("fruit.md", approval={"purpose": "Buy fruit."})]
        ['fruit.md']
        """
        place = file_at(path)
        details = details_of(approval, place)
        return write_files(place.parent, {place.name: plan_file(self.record, place, details)})

    @checks.translate_errors
    def save_contract(
        self,
        path: str | Path,
        network: str | Path | Mapping[str, object],
        approval: str | Path | Mapping[str, object] | None = None,
    ) -> list[Path]:
        """Write the contract, which is the plan and its operators, or write its approval page.

        The network must have as many mixes as the plan has ``hops`` (mixes in a row).

        Parameters
        ----------
        path : str or Path
            The file to write. If the name ends in .html or .md, an approval page is written.
        network : str, Path or Mapping
            The operators of the collection, as a TOML file or as a mapping with its fields.
        approval : str, Path, Mapping or None
            Further statements for the page, as ``save`` accepts them.

        Returns
        -------
        list of Path
            The file that was written.

        Raises
        ------
        DataError
            If a file cannot be read or written.
        ParameterError
            If ``approval`` is given and the file is not a page.
        PlanError
            If the network or ``approval`` has an unknown field, or if the number of mixes differs
            from that of the plan.
        """
        place = file_at(path)
        named = network if isinstance(network, Mapping) else file_at(network)
        subject = "network" if isinstance(named, Mapping) else str(named)
        contract = contract_of(self.record, read_network(named), subject)
        details = details_of(approval, place)
        return write_files(place.parent, {place.name: contract_file(contract, place, details)})

    @classmethod
    @checks.translate_errors
    def load(cls, path: str | Path) -> "Plan":
        """Read a plan from a file, and verify it by computing its certificate again.

        Parameters
        ----------
        path : str or Path
            A file that ``Plan.save`` or ``mixtally plan`` wrote.

        Returns
        -------
        Plan
            The plan, without the reason why it was chosen.

        Raises
        ------
        DataError
            If the file cannot be read.
        PlanError
            If the file is not a plan, was altered, or has a false certificate.

        Examples
        --------
        >>> import mixtally
        >>> plan = mixtally.plan(3, epsilon=1, delta=1e-6, users=10_000)
        >>> path = plan.save("fruit.json")
        >>> mixtally.Plan.load("fruit.json").fingerprint == plan.fingerprint
        True
        """
        place = file_at(path)
        data = read_bytes(place, "a plan", "write one with Plan.save")
        found = read_plan(data, str(place))
        verify(found, Accountant())
        return cls(found)

    @checks.translate_errors
    def lines(self) -> Promise:
        """Return the guarantee in three lines.

        Returns
        -------
        tuple of str
            What is protected against which observer; epsilon, delta and the assumptions; the
            expected error.
        """
        expected = self.forecast
        return promise_of_plan(self.record, expected.level, expected.half_width)

    def __repr__(self) -> str:
        what = f"{self.question.name}: {self.record.name}, {self.question.bins:,} bins, "
        cost = f"{self.record.messages_per_user:.3f} messages per user"
        return "\n".join([*self.lines(), what + cost])

    def _repr_html_(self) -> str:
        return "".join(el("p", line) for line in repr(self).splitlines())


@dataclass(frozen=True, slots=True, kw_only=True)
class KindOptions:
    """The argument ``kind`` of ``plan``. The command line has several options instead."""

    kind: str | None = None


class _QuestionRequest(NamedTuple):
    """The question that the arguments of ``plan`` describe.

    ``question`` is a finished question. If it is None, ``options`` are the options that describe
    the question, and replace those that the caller gave.
    """

    question: Question | None
    options: dict[str, Any]


@checks.translate_errors
@checks.accept_options(PlanOptions, KindOptions)
def plan(question: Shape = None, **options: Any) -> Plan:
    """Find the plan of least error that satisfies a privacy guarantee.

    Parameters
    ----------
    question : Question, int, sequence of str, Mapping or None
        The number of bins, their labels, a mapping from each attribute to its labels, or a finished
        question. None if other arguments, such as ``bins``, ``labels`` or ``number``, describe the
        question.
    bins : int, optional
        The number of possible answers, 2 to 10^7.
    labels : sequence of str or Mapping, optional
        The possible answers in order. A mapping from attribute to labels asks for one label of each
        attribute.
    attributes : sequence of int, optional
        The number of bins of each of 2 to 16 attributes, for example [10, 20, 5].
    number : tuple of float, optional
        The range of numbers, (low, high). Numbers outside are moved to the nearer end. They are
        rounded at random to ``points``, or counted in ``bins`` of equal width.
    kind : str, optional
        What a record may contain: "one" label, a "set" of at most ``max_set`` labels, or "bits", a
        yes or no for each label. The default is "one", or "set" if ``max_set`` is given.
    open_domain : bool, default False
        Whether any text may be an answer. The words to count are chosen when the tally is
        estimated.
    **options
        The options of ``mixtally plan``.

    Returns
    -------
    Plan
        The plan and the reason why it was chosen.

    Raises
    ------
    InfeasibleError
        If no plan meets the request. Reading the exception's attribute ``nearest`` starts a search
        for the closest feasible requests: ``nearest.found`` lists their changes and plans, and
        ``nearest.unfinished`` lists changes that would take too long to search.
    ParameterError
        If a number is outside its range, or if two arguments exclude each other.
    PlanError
        If a label is empty or occurs twice.

    Examples
    --------
    >>> import mixtally
    >>> plan = mixtally.plan(["yes", "no"], epsilon=1, delta=1e-6, users=10_000)
    >>> round(plan.error, 2)
    4.61
    >>> plan.certificate.upper <= 1e-6
    True
    """
    asked = _read_question(question, options)
    request = use.make_request(read_request(PlanOptions, options | asked.options), asked.question)
    # The search for feasible requests is slow, so it starts only if ``nearest`` is read.
    try:
        found = use.plan(request)
    except InfeasibleError as error:
        error.search = lambda: _in_python(request.nearest())
        raise
    return Plan(found.plan, found.choice.reason, found.forecast.level)


def _in_python(nearest: Relaxations | None) -> Relaxations | None:
    """Return the closest feasible requests, with the names of Python arguments in their changes."""
    if nearest is None:
        return None
    word = checks.translate_options
    return Relaxations(
        [replace(one, change=word(one.change)) for one in nearest.found],
        [word(one) for one in nearest.unfinished],
    )


def _read_question(shape: object, options: Mapping[str, Any]) -> _QuestionRequest:
    """Return the question that the arguments describe.

    Raises
    ------
    ParameterError
        If two arguments describe the question, or if an argument has another type.
    """
    labels = options.get("labels")
    if shape is not None:
        ways = {"labels": labels, "bins": options.get("bins")}
        given = ["question", *(name for name, value in ways.items() if value is not None)]
        if len(given) > 1:
            raise ParameterError(
                "question",
                expected="one of question, bins and labels",
                got=" and ".join(given),
                do="describe the question in one way",
            )
    one = checks.check_optional_choice("kind", options.get("kind"), ["bits", "one", "set"])
    found: dict[str, Any] = {}
    shape = as_list("labels", labels if shape is None else shape)
    if isinstance(shape, Question | Mapping) and one is not None:
        raise not_together("question", "a question or attributes", ["kind"])
    if isinstance(shape, Question):
        return _QuestionRequest(shape, found)
    if isinstance(shape, Mapping):
        found |= _attribute_options(shape)
    elif isinstance(shape, list | tuple) or labels is not None:
        found["labels"] = labels_of("labels", shape)
    elif shape is not None:
        found["bins"] = checks.check_whole("bins", shape)
    most = checks.check_optional_whole("max set", options.get("max_set"))
    if one == "set" and most is None:
        raise ParameterError(
            "max set",
            expected="the largest number of labels of a person",
            got="none",
            do="add max_set=3, for example",
        )
    names = found.get("labels")
    bins = len(names) if isinstance(names, tuple) else found.get("bins", options.get("bins"))
    if one == "bits":
        found |= {"bins": None, "bits": bins}
    elif one == "set" and most == 1:  # unlike one answer, a set may be empty
        name = checks.check_text("name", options.get("name", "answer"))
        made = Question(
            name=name, bins=checks.check_whole("bins", bins), labels=names, kind=Kind.SET, max_set=1
        )
        return _QuestionRequest(made, dict.fromkeys(("bins", "labels", "max_set", "name")))
    return _QuestionRequest(None, found)


def _attribute_options(shape: Mapping[str, Sequence[str]]) -> dict[str, object]:
    """Return the options of a record with one label of each attribute."""
    labels: list[str] = []
    sizes: list[int] = []
    for column, of_column in shape.items():
        given = as_list(f"labels of {column!r}", of_column)
        if not isinstance(given, list | tuple):
            raise ParameterError(
                f"attribute {column!r}",
                expected="a list of the labels of the attribute",
                got=checks.describe_value(given),
                do="list the possible answers",
            )
        texts = labels_of(f"labels of {column!r}", given)
        labels += [normalize_nfc(f"{column}={label}") for label in texts]
        sizes.append(len(texts))
    return {"attributes": sizes, "labels": labels}


def parse_scale(bins: object, points: object, number: object) -> Range | None:
    """Return the range of numbers with its bins or its points; None without any argument.

    Numbers are counted in bins of equal width, or rounded to points.

    Raises
    ------
    ParameterError
        If the range is missing or is not a pair, or if both bins and points are given.
    """
    if bins is points is number is None:
        return None
    if number is None:
        raise ParameterError(
            "number",
            expected="the range of the numbers",
            got="none",
            do="write number=(0, 10), for example",
        )
    if None not in (bins, points):
        raise not_together(
            "number", "points", ["bins"], "use points for a mean, bins for a histogram"
        )
    ends = ends_of("number", number)
    if bins is None:
        return Points(*ends, checks.check_optional_whole("points", points))
    return Scale(*ends, checks.check_whole("bins", bins))


class VerifiedPlan(NamedTuple):
    """A plan with a verified certificate.

    Parameters
    ----------
    fingerprint : str
        The fingerprint of the plan, or of the contract that contains it.
    plan : mixtally.model.contract.Plan
        The plan, as files contain it.
    """

    fingerprint: str
    plan: Record


def load_verified_plan(given: object) -> VerifiedPlan:
    """Return the plan in an argument after verifying its certificate.

    The argument is a ``Plan``, or a plan or contract as a path or as bytes.

    Raises
    ------
    DataError
        If the file cannot be read.
    ParameterError
        If the argument is neither a plan nor a path nor bytes.
    PlanError
        If the contract is invalid, was altered, or has a false certificate.
    """
    if isinstance(given, Plan):  # the planner or Plan.load has already verified it
        return VerifiedPlan(given.fingerprint, given.record)
    data = contract_bytes(given)
    plan = read_contract(data, "contract").plan
    verify(plan)
    return VerifiedPlan(fingerprint_of(data), plan)

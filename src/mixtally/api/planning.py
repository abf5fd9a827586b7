"""``plan``: the plan of least error for a question, as an object that people can read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from mixtally.accounting.accountant import Accountant
from mixtally.accounting.plans.terms import verify
from mixtally.api import checks
from mixtally.api.files import file_at, write_files
from mixtally.api.labels import labels_of
from mixtally.api.requests import ends_of, read_request
from mixtally.app import plan as use
from mixtally.app.approval_details import details_of
from mixtally.app.contracts import contract_of, network_of, read_network
from mixtally.app.model_comparison import compare_models
from mixtally.app.plan import PlanOptions
from mixtally.app.plans import contract_file, plan_file, promise_lines
from mixtally.errors import InfeasibleError, ParameterError
from mixtally.lab.data.label_merging import normalize_nfc
from mixtally.model.certificate import Certificate
from mixtally.model.contract import Plan as Record
from mixtally.model.contract import read_plan
from mixtally.model.question import Kind, Question
from mixtally.planning import Forecast, Relaxations, explain, forecast, forecast_mean
from mixtally.primitives.files import read_bytes
from mixtally.protocol.encode.numbers import Points, Range, Scale
from mixtally.report.document import Promise
from mixtally.report.svg import el
from mixtally.report.words import promise_paragraphs

Shape = Question | int | Sequence[str] | Mapping[str, Sequence[str]] | None
Ends = tuple[float, float]
"""Where numbers end, the lower first."""


class Plan:
    """A plan and what it promises: made by ``plan``, or read from a file with ``Plan.load``.

    where
      record   all of it, as files have it
      reason   why it was chosen; empty when it was read from a file
      level    of the errors that are forecast
    """

    def __init__(self, record: Record, reason: str = "", level: float = 0.95) -> None:
        self.record, self.reason, self.level = record, reason, level

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
        found = forecast_mean(self.record)
        return None if found is None else found.standard_error

    @property
    def forecast(self) -> Forecast:
        """Errors of one count and of all of them, in counts, at the level."""
        return forecast(self.record, self.level)

    @property
    def explanation(self) -> dict[str, str]:
        """Where every number of the plan comes from, by the name of the number."""
        return explain(self.record)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of its file."""
        return self.record.fingerprint

    @property
    def promise(self) -> str:
        """What is promised, to whom, and what it assumes, in words."""
        return "\n\n".join(promise_paragraphs(self.record))

    @property
    def elsewhere(self) -> dict[str, float]:
        """Standard errors of the same guarantee in other models, by their names."""
        return {one.model: one.standard_error for one in compare_models(self.record)}

    @checks.translate_errors
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
        return write_files(place.parent, {place.name: plan_file(self.record, place, details)})

    @checks.translate_errors
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
        return write_files(place.parent, {place.name: contract_file(contract, place, details)})

    @classmethod
    @checks.translate_errors
    def load(cls, path: str | Path) -> "Plan":
        """The plan in a file, its certificate proved again.

        Raises DataError for a file that cannot be read, PlanError for one that is no plan, was
        altered, or promises what is not true.

        >>> mixtally.Plan.load("fruit.json")
        """
        place = file_at(path)
        data = read_bytes(place, "a plan", "write one with Plan.save")
        found = read_plan(data, str(place))
        verify(found, Accountant())
        return cls(found)

    @checks.translate_errors
    def lines(self) -> Promise:
        """The promise in three lines: hidden from whom, at what price, with which error."""
        return promise_lines(self.record, self.forecast)

    def __repr__(self) -> str:
        what = f"{self.question.name}: {self.record.name}, {self.question.bins:,} bins, "
        cost = f"{self.record.messages_per_user:.3f} messages per user"
        return "\n".join([*self.lines(), what + cost])

    def _repr_html_(self) -> str:
        return "".join(el("p", line) for line in repr(self).splitlines())


@dataclass(frozen=True, slots=True, kw_only=True)
class KindOptions:
    """Python's word for what the options of a question say: "one", "set" or "bits"."""

    kind: str | None = None


class _QuestionRequest(NamedTuple):
    """A question that was made before, or the options of one."""

    question: Question | None
    options: dict[str, Any]


@checks.translate_errors
@checks.accept_options(PlanOptions, KindOptions)
def plan(question: Shape = None, **options: Any) -> Plan:
    """Find the plan of least error that keeps a guarantee.

    Parameters
    ----------
    question : Question, int, sequence of str, Mapping or None
        How many bins there are, or their labels, or the labels of each attribute; or a question
        that was made before. None where ``bins``, ``labels``, ``number`` or others say it.
    **options
        The names of the options of ``mixtally plan``. The guarantee: ``epsilon`` in [0.01, 20] and
        ``delta`` in [1e-15, 0.1]. The crowd: ``users``, 2 to 10^10, or ``target_share`` to find
        it. The question: ``bins``; ``labels``, of the bins or of each attribute;
        ``max_set``, the most labels of a person; ``kind``, "bits" when everybody answers no or yes
        to every label; ``bits``; ``attributes``, the number of bins of each; ``open_domain`` with
        ``hash_seed``; ``number``, (low, high), with ``points`` or ``bins``; ``prefixes`` of words
        with ``longest``, ``alphabet`` and ``symbols``; its ``name``. What it may cost and
        who is trusted, as ``hops=3`` mixes in a row; ``target_error`` to find the fewest messages.
        ``level`` of the errors that are forecast.

    Returns
    -------
    Plan
        The plan, and why it was chosen.

    Raises
    ------
    InfeasibleError
        When nothing fits. Its ``nearest.found`` are the closest feasible requests, each with the
        ``change`` and the ``plan`` that it makes possible; ``nearest.unfinished`` names changes
        that take too long to search. The search begins when ``nearest`` is read.
    ParameterError
        For a number outside its range, or an argument beside another that it does not go with.
    PlanError
        For labels that are no labels.

    Examples
    --------
    >>> mixtally.plan(["yes", "no"], epsilon=1, delta=1e-6, users=10_000)
    """
    asked = _read_question(question, options)
    request = use.make_request(read_request(PlanOptions, options | asked.options), asked.question)
    try:
        found = use.plan(request)
    except InfeasibleError as error:
        error.search = lambda: _in_python(request.nearest())
        raise
    return Plan(found.plan, found.choice.reason, found.forecast.level)


def _in_python(nearest: Relaxations | None) -> Relaxations | None:
    """Return the closest feasible requests with changes worded as arguments of Python."""
    if nearest is None:
        return None
    word = checks.translate_options
    return Relaxations(
        [replace(one, change=word(one.change)) for one in nearest.found],
        [word(one) for one in nearest.unfinished],
    )


def _read_question(shape: object, options: Mapping[str, Any]) -> _QuestionRequest:
    """Return what is asked; raise ParameterError for two ways to say it, and for other types."""
    labels = options.get("labels")
    if shape is not None:
        ways = {"labels": labels, "bins": options.get("bins")}
        given = ["question", *(name for name, value in ways.items() if value is not None)]
        if len(given) > 1:
            raise ParameterError(
                "question",
                expected="bins, or labels, or a question",
                got=" and ".join(given),
                do="say in one way what a record may hold",
            )
    one = checks.check_optional_choice("kind", options.get("kind"), ["bits", "one", "set"])
    found: dict[str, Any] = {}
    shape = labels if shape is None else shape
    if isinstance(shape, Question | Mapping) and one is not None:
        raise ParameterError(
            "question",
            expected="a question or attributes alone",
            got="kind beside them",
            do="leave it out",
        )
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
            "max set", expected="the most labels that one person sets", got="none", do="max_set=3"
        )
    names = found.get("labels")
    bins = len(names) if isinstance(names, tuple) else found.get("bins", options.get("bins"))
    if one == "bits":
        found |= {"bins": None, "bits": bins}
    elif one == "set" and most == 1:  # a set may be empty, one answer may not
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
    for column, given in shape.items():
        if not isinstance(given, list | tuple):
            raise ParameterError(
                f"attribute {column!r}",
                expected="a list of its labels",
                got=checks.describe_value(given),
                do="list what a person may answer",
            )
        texts = labels_of(f"labels of {column!r}", given)
        labels += [normalize_nfc(f"{column}={label}") for label in texts]
        sizes.append(len(texts))
    return {"attributes": sizes, "labels": labels}


def parse_scale(bins: object, points: object, number: object) -> Range | None:
    """Return the bins or the points of numbers; None when nothing is said.

    Raises ParameterError for ends that are missing or no pair, and for both bins and points.
    """
    if bins is points is number is None:
        return None
    if number is None or None not in (bins, points):
        raise ParameterError(
            "number",
            expected="where numbers end, and either bins or points if any",
            got="no ends" if number is None else "bins and points",
            do="number=(0, 10): numbers are rounded to points, or cut into bins",
        )
    ends = ends_of("number", number)
    if bins is None:
        return Points(*ends, checks.check_optional_whole("points", points))
    return Scale(*ends, checks.check_whole("bins", bins))

"""Comparison of a plan with the same guarantee in other models of differential privacy.

The models are the central model, the local model, Prio, and closed forms published for the shuffle
model. Errors are standard errors of the count of an empty bin, at the epsilon and delta of the plan
for all of its collections together. Neighboring data sets differ in one person's record. A
published closed form has the trust assumptions of the plan: it relies on as many honest people as
the plan, or on the fakes of one mix if every mix draws fakes.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from mixtally.accounting.baselines import central_error, local_error, moved_counts
from mixtally.errors import ParameterError, pluralize
from mixtally.lab.formulas import notes, shuffle_bounds
from mixtally.model.contract import Cover, Plan
from mixtally.model.mechanism.presets import clear_uniform, flip, flip_blank
from mixtally.model.question import Kind
from mixtally.primitives.fixed_point import SCALE
from mixtally.report.document import Table
from mixtally.report.numbers import error_text

_SERVERS, _USUAL = 2, 2.0
"""The servers of Prio, and the messages per person that a closed form may use by default."""
_NOBODY = "nobody else"


@dataclass(frozen=True, slots=True)
class ModelComparison:
    """The standard error of another model with the same guarantee, and its assumptions.

    Attributes
    ----------
    model : str
        Name of the model.
    trusted : str
        The parties that must be honest.
    crowd : str
        The other people whose records or fakes the guarantee needs.
    changes : str
        How many messages or counts of a collection one person can change.
    standard_error : float
        Standard error of one count, in counts.
    """

    model: str
    trusted: str
    crowd: str
    changes: str
    standard_error: float

    def facts(self) -> dict[str, Any]:
        """Return the comparison as a flat JSON object."""
        return asdict(self)


def compare_models(plan: Plan, messages: float | None = None) -> list[ModelComparison]:
    """Return other models with the guarantee of a plan, sorted by error.

    If mixes draw the fakes of the plan, a mix in a closed form may draw as many fakes as there are
    people, or as many as a mix of the plan if this is more. In Prio each of the two servers adds
    the noise of the central model, because either server may be the only honest one.

    Parameters
    ----------
    plan : Plan
        The plan whose guarantee the other models have.
    messages : float or None
        The number of messages per person that a published closed form may use. None allows two
        messages, or as many as in the plan if that is more.
    """
    question, stated, often = plan.question, plan.guarantee, plan.collections
    central = central_error(question, stated.epsilon, stated.delta, often)
    local = local_error(question, stated.epsilon, plan.users, often)
    moved = pluralize(moved_counts(question), "count") + " by 1"
    # The variances of independent noise add.
    prio = math.sqrt(_SERVERS) * central
    found = [
        ModelComparison("central model", "one server with all answers", _NOBODY, moved, central),
        ModelComparison(
            "Prio, two servers with noise", "one of the two servers", _NOBODY, moved, prio
        ),
        ModelComparison("local model", "nobody", _NOBODY, pluralize(1, "response"), local),
        *_best_published_form(
            plan, max(_USUAL, plan.messages_per_user) if messages is None else messages
        ),
    ]
    return sorted(found, key=lambda one: one.standard_error)


def comparison_table(plan: Plan, others: list[ModelComparison]) -> Table:
    """Return the table of the errors of a plan, in the first row, and of other models.

    Parameters
    ----------
    plan : Plan
        The plan, whose error is in the first row.
    others : list of ModelComparison
        The other models, in the order of their rows.
    """
    own = ModelComparison("this plan", *_premises(plan), plan.standard_error)
    title = f"The same guarantee in other models, for {plan.users:,} people"
    if plan.cover is Cover.PEOPLE and plan.honest_people < plan.users:
        title += f", {plan.honest_people:,} of them assumed honest"
    return Table(
        ("model", "trusted", "crowd", "one person changes", "standard error"),
        [
            (o.model, o.trusted, o.crowd, o.changes, error_text(o.standard_error))
            for o in (own, *others)
        ],
        words=frozenset({"trusted", "crowd", "one person changes"}),
        title=title,
    )


def _premises(plan: Plan) -> tuple[str, str, str]:
    """Return the trusted parties, the required crowd, and the number of messages of one person."""
    crowd = f"{plan.honest_people:,} honest people" if _needs_people(plan) else _NOBODY
    if plan.cover is Cover.MIXES:
        crowd = "fakes of one mix"
    messages = sum(part.record_messages for part in plan.parts)
    return _trusted_parties(plan), crowd, pluralize(messages, "message")


def _trusted_parties(plan: Plan) -> str:
    """Return the parties that must be honest for the guarantee of the plan."""
    mix = "one mix" if plan.hops == 1 else f"one of {plan.hops} mixes"
    if plan.cover is Cover.MIXES:
        return mix
    return f"{mix}, other people" if _needs_people(plan) else "nobody"


def _needs_people(plan: Plan) -> bool:
    return plan.count_flips or any(part.own is not None for part in plan.parts)


def _best_published_form(plan: Plan, messages: float) -> list[ModelComparison]:
    """Return the closed form with the smallest error for a number of messages per person.

    The list is empty if no closed form applies.
    """
    simple = plan.question.kind is Kind.ONE and plan.question.hashed is None
    trusts = plan.cover is Cover.MIXES or _needs_people(plan)
    if not simple or not trusts or plan.collections > 1:
        return []
    fits = {name: error for name, error in _closed_forms(plan, messages) if error is not None}
    if not fits:
        return []
    name = min(fits, key=fits.__getitem__)
    return [ModelComparison(f"published closed form, {name}", *_premises(plan), fits[name])]


def _closed_forms(plan: Plan, messages: float) -> Iterator[tuple[str, float | None]]:
    """Yield the name of each closed form, and the standard error of a count.

    The error is None if a form does not apply, or needs more than ``messages`` per person. A form
    states the number of fakes that must certainly arrive: the fakes of the honest people, or those
    of one honest mix. The total number of fakes is larger, because all people, or all mixes, draw
    fakes.
    """
    epsilon, delta = plan.guarantee.epsilon, plan.guarantee.delta
    users, bins, certain = plan.users, plan.question.bins, plan.honest_people
    by_mixes = plan.cover is Cover.MIXES
    # One message of a person is the answer, and only the fakes of honest people certainly arrive.
    allowed = math.floor((messages - 1.0) * certain)
    if by_mixes:
        allowed = max(users, plan.messages_per_mix)

    def total_fakes(fakes: int) -> int:
        """Return the total number of fakes if ``fakes`` of them must certainly arrive."""
        return fakes * plan.hops if by_mixes else -(-fakes * users // certain)

    def clear() -> float | None:
        fakes = math.ceil(notes.clear_uniform(epsilon, delta, bins))
        if fakes > allowed:
            return None
        return clear_uniform(bins=bins, fakes=total_fakes(fakes)).standard_error(users)

    def blank() -> float | None:
        flips = _threshold_or_none(notes.flip_blank(epsilon, delta, allowed)) if allowed else None
        if flips is None:
            return None
        made = flip_blank(bins=bins, fakes=total_fakes(allowed), threshold=flips)
        return made.standard_error(users)

    def clones() -> float | None:
        flips = (
            None if by_mixes else _threshold_or_none(shuffle_bounds.clones(epsilon, delta, certain))
        )
        if flips is None:
            return None
        return flip(bins=bins, threshold=flips, crowd=certain).standard_error(users)

    yield "Notes (2020), (5.10)", _evaluate_form(clear)
    yield "Notes (2020), (5.26)", _evaluate_form(blank)
    yield "Feldman, McMillan, Talwar (2021)", _evaluate_form(clones)


def _evaluate_form(form: Callable[[], float | None]) -> float | None:
    try:
        return form()
    except ParameterError:  # outside the range in which the form is proved
        return None


def _threshold_or_none(flip_probability: float) -> int | None:
    """Return a flip probability as an integer over 2^64; None unless it is between 0 and 1/2."""
    return round(flip_probability * SCALE) if 0.0 < flip_probability < 0.5 else None

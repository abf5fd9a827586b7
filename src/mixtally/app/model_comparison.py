"""A plan beside the same guarantee in other models: central, local, Prio, published closed forms.

Errors are standard errors of a count that nobody holds, at the epsilon and delta of a plan, for all
of its collections together. All rows replace one person's record among the same people. A published
closed form trusts whom the plan trusts: it counts on as many honest people as the plan does, or on
the fakes of one mix where every mix draws them.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from mixtally.accounting.baselines import central_error, local_error, moved_counts
from mixtally.errors import ParameterError
from mixtally.lab.formulas import notes, shuffle_bounds
from mixtally.model.contract import Cover, Plan
from mixtally.model.mechanism.presets import clear_uniform, flip, flip_blank
from mixtally.model.question import Kind
from mixtally.primitives.fixed_point import SCALE
from mixtally.report.document import Table
from mixtally.report.numbers import error_text, pluralize

_SERVERS, _USUAL = 2, 2.0
_NOBODY = "nobody else"


@dataclass(frozen=True, slots=True)
class ModelComparison:
    """What another model gives for the same guarantee.

    where
      model            its name
      trusted          who must be trusted with what
      crowd            whose records or fakes must be there besides
      changes          what one person changes of all that is sent or published in a collection
      standard_error   of one count, in counts
    """

    model: str
    trusted: str
    crowd: str
    changes: str
    standard_error: float

    def facts(self) -> dict[str, Any]:
        """As one flat JSON object."""
        return asdict(self)


def compare_models(plan: Plan, messages: float | None = None) -> list[ModelComparison]:
    """What the guarantee of ``plan`` costs in other models, the least error first.

    Published closed forms may have ``messages`` a person; None for two, or the plan's if those are
    more. Where mixes draw the fakes, a mix may draw as many as there are people, or the plan's.
    Prio's servers each add the noise of the central model, as either may be the honest one.
    """
    question, stated, often = plan.question, plan.guarantee, plan.collections
    central = central_error(question, stated.epsilon, stated.delta, often)
    local = local_error(question, stated.epsilon, plan.users, often)
    moved = pluralize(moved_counts(question), "count") + " by 1"
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
    """Build the table of the plan's error, in the first row, and those of the other models."""
    own = ModelComparison("this plan", *_premises(plan), plan.standard_error)
    title = f"The same guarantee elsewhere, for {plan.users:,} people"
    if plan.cover is Cover.PEOPLE and plan.honest_people < plan.users:
        title += f" of whom {plan.honest_people:,} are counted on"
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
    """Return who is trusted for the plan's promise, who must be there, what a person changes."""
    crowd = f"{plan.honest_people:,} honest people" if _needs_people(plan) else _NOBODY
    if plan.cover is Cover.MIXES:
        crowd = "fakes of one mix"
    messages = sum(part.record_messages for part in plan.parts)
    return _trusted_parties(plan), crowd, pluralize(messages, "message")


def _trusted_parties(plan: Plan) -> str:
    """Who must be honest for the plan's promise."""
    mix = "one mix" if plan.hops == 1 else f"one of {plan.hops} mixes"
    if plan.cover is Cover.MIXES:
        return mix
    return f"{mix}, other people" if _needs_people(plan) else "nobody"


def _needs_people(plan: Plan) -> bool:
    return plan.count_flips or any(part.own is not None for part in plan.parts)


def _best_published_form(plan: Plan, messages: float) -> list[ModelComparison]:
    """The closed form of least error that holds and fits into so many messages a person."""
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
    """Names and errors; None where a form does not begin, or asks for more messages.

    A form needs fakes that certainly arrive: those of the honest people who are counted on, or
    those of one mix. In all there are more: every person, or every mix, draws as many.
    """
    epsilon, delta = plan.guarantee.epsilon, plan.guarantee.delta
    users, bins, certain = plan.users, plan.question.bins, plan.honest_people
    by_mixes = plan.cover is Cover.MIXES
    allowed = math.floor((messages - 1.0) * certain)
    if by_mixes:
        allowed = max(users, plan.messages_per_mix)

    def total_fakes(fakes: int) -> int:
        """How many are drawn in all where so many are certain."""
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
    except ParameterError:  # outside of where it begins
        return None


def _threshold_or_none(flip_probability: float) -> int | None:
    """As an integer over 2^64; None where more than half would be flipped."""
    return round(flip_probability * SCALE) if 0.0 < flip_probability < 0.5 else None

"""What a collection may cost and whom it may trust: the planner's options, declared once."""

from typing import TYPE_CHECKING, Any

from mixtally.cli import options as o

if TYPE_CHECKING:
    from mixtally.planner import PlanRequest
    from mixtally.records.guarantee import Guarantee
    from mixtally.records.question import Question

BUDGET: dict[str, tuple[Any, Any]] = {
    "fakes_per_user": (o.FakesPerUser, None),
    "messages_per_user": (o.MessagesPerUser, None),
    "bytes_per_user": (o.BytesPerUser, None),
    "collections": (o.Collections, 1),
    "mix_fakes": (o.MixFakes, False),
    "mixes": (o.Mixes, 1),
    "count_crowd": (o.CountCrowd, False),
    "local_epsilon": (o.LocalEpsilon, None),
    "protocol": (o.ProtocolName, None),
    "honest_fraction": (o.HonestFraction, 1.0),
    "minimum_crowd": (o.MinimumCrowd, None),
}


def given(budget: dict[str, Any]) -> list[str]:
    """The flags that were set."""
    return [
        "--" + name.replace("_", "-") for name, value in budget.items() if value != BUDGET[name][1]
    ]


def wish_of(
    budget: dict[str, Any],
    question: "Question",
    guarantee: "Guarantee",
    users: int,
    *,
    hash_seed: str | None = None,
) -> "PlanRequest":
    """The wish with this budget; raises ParameterError when it is stated in two ways."""
    from mixtally.planner import PlanRequest

    rest = dict(budget)
    messages = o.messages_per_user(rest.pop("fakes_per_user"), rest.pop("messages_per_user"))
    return PlanRequest(
        question=question,
        guarantee=guarantee,
        users=users,
        messages_per_user=messages,
        hash_seed=hash_seed,
        **rest,
    )

"""What is offered keeps the guarantee as a whole, not part by part."""

from msgspec import structs

from mixtally.planner import build
from mixtally.planner.choose import survey
from mixtally.planner.wish import Wish
from mixtally.records.guarantee import Guarantee
from mixtally.records.question import Question

PROMISED = Guarantee(epsilon=1.0, delta=1e-6)


def asked(collections):
    question = Question(name="x", bins=5)
    return Wish(question=question, guarantee=PROMISED, users=10**5, collections=collections)


def test_a_composition_above_the_target_is_no_offer(monkeypatch):
    """The upper end counts; the lower one is far below the target here as everywhere."""
    offers, _ = survey(asked(2))
    assert offers
    composed = build.compose.delta_of

    def above(*arguments):
        found = composed(*arguments)
        return structs.replace(found, upper=1.001e-6)

    monkeypatch.setattr(build.compose, "delta_of", above)
    offers, misfits = survey(asked(2))
    assert offers == []
    assert misfits
    offers, _ = survey(asked(1))  # nothing is composed
    assert offers

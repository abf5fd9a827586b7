"""What is planned keeps the guarantee as a whole, not part by part."""

import pytest
from msgspec import structs

from mixtally.errors import InfeasibleError
from mixtally.model.guarantee import Guarantee
from mixtally.model.question import Question, make_attributes_question
from mixtally.planning import Planner, PlanRequest, choose, pricing
from planning.requests import named

PROMISED = Guarantee(epsilon=1.0, delta=1e-6)


def asked(collections):
    question = Question(name="x", bins=5)
    return PlanRequest(question=question, guarantee=PROMISED, users=10**5, collections=collections)


@pytest.mark.seconds
def test_what_is_certified_above_the_target_is_no_plan(plant):
    """The upper bound counts; the lower one is far below the target here as everywhere."""
    assert choose(asked(2)).plan

    def above(honest, *arguments):
        return structs.replace(honest(*arguments), upper=1.001e-6)

    plant(pricing, "certify_terms", above)
    found, _ = Planner().candidates(asked(2))
    assert found
    with pytest.raises(InfeasibleError, match="slightly more than its budget"):
        choose(asked(2))


def split(**more):
    """The plan of two attributes in flipped messages, one each."""
    question = make_attributes_question("x", (3, 4))
    more |= {"protocol": "flip-blank", "messages_per_user": 10.0}
    request = PlanRequest(question=question, guarantee=PROMISED, users=10**5, **more)
    return named(request, "flip-blank, split")


def test_two_messages_share_the_guarantee():
    plan = split()
    assert 0.9e-6 < plan.certificate.upper <= 1e-6
    for part in plan.parts:
        alone = structs.replace(plan, question=Question(name="x", bins=part.bins), parts=(part,))
        assert pricing.certify_terms(pricing.PrivacyTerms.of(alone)).upper < 1e-9


@pytest.mark.seconds
def test_two_messages_share_a_local_cap():
    assert split().local_epsilon > 8.0
    assert 7.95 < split(local_epsilon=8.0).local_epsilon <= 8.0

"""What is offered keeps the guarantee as a whole, not part by part."""

from msgspec import structs

from mixtally.planner import build
from mixtally.planner.choose import Planner
from mixtally.planner.request import PlanRequest
from mixtally.records.guarantee import Guarantee
from mixtally.records.question import Question, with_attributes

PROMISED = Guarantee(epsilon=1.0, delta=1e-6)


def asked(collections):
    question = Question(name="x", bins=5)
    return PlanRequest(question=question, guarantee=PROMISED, users=10**5, collections=collections)


def test_a_composition_above_the_target_is_no_offer(plant):
    """The upper bound counts; the lower one is far below the target here as everywhere."""
    assert Planner().survey(asked(2))[0]

    def above(honest, *arguments):
        found = honest(*arguments)
        return structs.replace(found, upper=1.001e-6)

    plant(build.compose, "delta_of", above)
    options, infeasible = Planner().survey(asked(2))
    assert not options
    assert infeasible
    options, _ = Planner().survey(asked(1))  # nothing is composed
    assert options


def split(**more):
    """Options of two attributes in flipped messages, one each."""
    question = with_attributes("x", (3, 4))
    more |= {"protocol": "flip-blank", "messages_per_user": 10.0}
    request = PlanRequest(question=question, guarantee=PROMISED, users=10**5, **more)
    options, _ = Planner().survey(request)
    (found,) = [one for one in options if len(one.plans) == 2]
    return found


def mechanisms(option):
    return [plan.mechanism for plan in option.plans]


def test_two_messages_share_the_guarantee():
    found = split()
    assert 0.9e-6 < found.certificate.upper <= 1e-6
    for plan in found.plans:
        assert plan.guarantee.epsilon < 0.8


def test_two_messages_share_a_local_cap():
    assert sum(one.local_epsilon for one in mechanisms(split())) > 8.0
    assert 7.99 < sum(one.local_epsilon for one in mechanisms(split(local_epsilon=8.0))) <= 8.0

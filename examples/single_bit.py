"""A single yes or no: how many of 944 people meant to vote for Dole, without an open question.

Look at both intervals. In clear among a few fakes the count is more accurate; with flips the answer
stays deniable.

Data: American National Election Study 1996 (statsmodels, public domain).
"""

from statsmodels.datasets import anes96

from mixtally.lab.data.population import Population
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.plan_choice import choose_plan
from mixtally.lab.simulation.run import simulate_release
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.guarantee import Guarantee
from mixtally.model.question import Kind, Question
from mixtally.planning import PlanRequest
from mixtally.protocol.encode.bits import pack_vectors


def main() -> None:
    """Count the votes twice: in clear among fakes, and with randomly flipped answers."""
    votes = anes96.load_pandas().data["vote"].to_numpy().astype("uint8")
    question = Question(name="vote", bins=1, labels=("Dole",), kind=Kind.BITS)
    crowd = Population(question, pack_vectors(votes.tobytes(), 1))
    print(f"{crowd.users} people, {int(crowd.truth[0])} for Dole")
    for protocol in ("clear-uniform", "single-bit"):
        wish = PlanRequest(
            question=question,
            guarantee=Guarantee(epsilon=1.0, delta=1e-6),
            users=crowd.users,
            protocol=protocol,
        )
        plan, _ = choose_plan(wish)
        found = simulate_release(plan, crowd, Lab(SeededChance(7))).result.estimate
        print(
            f"{protocol:13} {found.counts[0]:7.1f}, interval {found.individual.lower[0]} .. "
            f"{found.individual.upper[0]}, {plan.messages_per_user:.2f} messages a user"
        )


if __name__ == "__main__":
    main()

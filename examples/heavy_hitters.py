"""The most frequent English words, found without a list of words.

    .venv/bin/python examples/heavy_hitters.py           # 100,000 people, the top 10
    .venv/bin/python examples/heavy_hitters.py --full    # 1,000,000 people, the 50 most frequent

Every person has one word, drawn from 50,000 words by their frequencies (package wordfreq). Look at
the recall, and at the number of found words that no person has, which is zero.
"""

import argparse

from english import LETTERS, english

from mixtally.lab.simulation.heavy import Search, design_search, find_words
from mixtally.lab.simulation.heavy.design import describe_promise
from mixtally.lab.simulation.heavy.facts import score_words
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.seeded import build_chance
from mixtally.model.guarantee import Guarantee
from mixtally.protocol.encode.spelling import Spelling


def main() -> None:
    """Draw the crowd, plan, simulate every round, and compare with the truth."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="a million people")
    parser.add_argument("--seed", type=int, help="repeatable randomness")
    asked = parser.parse_args()
    chance = build_chance(asked.seed)
    users, top, rounds = (1_000_000, 50, 10) if asked.full else (100_000, 10, 8)

    crowd = english(users, 50_000, chance)
    vocabulary = crowd.question.labels or ()
    promised = Guarantee(epsilon=1.0, delta=1e-6)
    search = Search(
        guarantee=promised, users=users, top=top, rounds=rounds, spelling=Spelling(LETTERS)
    )
    planned = design_search(search)
    result = find_words(planned, vocabulary, crowd.codes, Lab(chance))

    truth = dict(zip(vocabulary, crowd.truth.tolist(), strict=True))
    print(f"{'word':12} {'estimate':>10} {'truth':>8}  interval for all bins of all rounds")
    for one in result.top:
        print(
            f"{one.word:12} {one.count:10,.1f} {truth.get(one.word, 0):8,}  "
            f"{one.lower_simultaneous:,} .. {one.upper_simultaneous:,}"
        )
    for number, played in enumerate(result.rounds, start=1):
        print(
            f"round {number}: {len(played.asked)} prefixes asked, {len(played.survivors)} survive, "
            f"{len(played.ended)} words end"
        )
    found = score_words([one.word for one in result.words], truth, top)
    print(
        f"recall {found.recall:.2f}, precision {found.precision:.2f}, {found.false_positives} of "
        f"{len(result.words)} words found are held by nobody"
    )
    print(f"{planned.plan.name}, {planned.messages_per_user:.3g} messages a person in all")
    print(planned.reason)
    print("\n".join(describe_promise(planned)))


if __name__ == "__main__":
    main()

"""Words of an open domain, looked for by a list, in bins that words share by a hash.

    .venv/bin/python examples/open_words.py

100,000 people hold one word each, drawn from 50,000 by their frequencies (package wordfreq). The
list names the 200 most frequent words and three that nobody holds; the others stay unlisted.
Look at the intervals: 5,000 bins are crowded, so they are wide, and too few for lower ends that
hold for all lines at once; with 100,000 nearly every listed word is surely held.
"""

import argparse

import numpy as np
from english import english

from mixtally.planner import PlanRequest, choose
from mixtally.records.guarantee import Guarantee
from mixtally.records.hashing import HMAC_SHA256, Hashing, drawn_seed
from mixtally.records.question import Question
from mixtally.simulation.lab import Lab
from mixtally.simulation.open_words import collect_words
from mixtally.simulation.seeded import chance_of

NOBODY = ("qwyx", "zzyva", "mixtally")


def main() -> None:
    """The same crowd in few and in many bins: noise stays, collisions fall."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, help="repeatable randomness")
    asked = parser.parse_args()
    chance = chance_of(asked.seed)

    crowd = english(100_000, 50_000, chance)
    words = [*(crowd.question.labels or ())[:200], *NOBODY]
    for bins in (5_000, 100_000):
        question = Question(
            name="word", bins=bins, hashed=Hashing(function=HMAC_SHA256, seed=drawn_seed(chance))
        )
        promised = Guarantee(epsilon=1.0, delta=1e-6)
        wish = PlanRequest(question=question, guarantee=promised, users=crowd.users, mix_fakes=True)
        plan = choose(wish).plan
        release, true = collect_words(plan, crowd, words, Lab(chance))
        truth = true.counts
        found, (others,) = release.result.estimate, release.result.figures[0].rows
        held = (found.each.lower <= truth) & (truth <= found.each.upper)
        measured = float(np.sqrt(np.mean((found.counts - truth) ** 2)))
        print(
            f"{bins:,} bins, {len(truth)} lines for {len(words)} words: standard error "
            f"{found.standard_error:.1f} (noise {plan.noise:.1f}), measured {measured:.1f}, "
            f"{100 * held.mean():.0f} % of the intervals cover the true count"
        )
        for i in np.argsort(-found.counts)[:5].tolist():
            print(
                f"  {release.result.question.label(i):10} {found.counts[i]:8,.1f}, surely "
                f"{found.each.lower[i]:,} .. {found.each.upper[i]:,}, true {truth[i]:,}"
            )
        surely = [
            release.result.question.label(i) for i in np.flatnonzero(found.together.lower > 0)
        ]
        print(f"  surely held, all lines at once: {len(surely)}; made up: {_made_up(surely)}")
        print(f"  {others.label}: {others.estimate:,.0f}, true {true.figures['others'][0]:,}")


def _made_up(surely: list[str]) -> int:
    return sum(label in NOBODY for label in surely)


if __name__ == "__main__":
    main()

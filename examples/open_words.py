"""Words of an open domain, counted with a list that was unknown when people answered.

    .venv/bin/python examples/open_words.py

100,000 people have one word each, drawn from 50,000 words by their frequencies (package wordfreq).
Each message names a plane of words. One list has the 200 most frequent words and three words that
no person has. The same messages then answer a second list. Look at the error: it is that of a bin.
It depends neither on the number of words nor on the answers of people with unlisted words.
"""

import argparse

import numpy as np
from english import english

from mixtally.lab.simulation.open_words import count_true_words, hash_words
from mixtally.lab.simulation.play import play
from mixtally.lab.simulation.seeded import build_chance
from mixtally.model.guarantee import Guarantee
from mixtally.model.hashing import draw_seed
from mixtally.model.question import make_open_question
from mixtally.planning import PlanRequest, choose
from mixtally.protocol.encode.hashed import look_up_words as points_of
from mixtally.protocol.estimate.analysis import Analysis
from mixtally.protocol.estimate.conclude import conclude

NOBODY = ("qwyx", "zzyva", "mixtally")


def main() -> None:
    """Simulate the crowd once with fakes of people and once with fakes of a mix, for two lists."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, help="repeatable randomness")
    asked = parser.parse_args()
    chance = build_chance(asked.seed)

    crowd = english(100_000, 50_000, chance)
    words = crowd.question.labels or ()
    for mix in (False, True):
        question = make_open_question("word", draw_seed(chance))
        promised = Guarantee(epsilon=1.0, delta=1e-6)
        wish = PlanRequest(question=question, guarantee=promised, users=crowd.users, mix_fakes=mix)
        plan = choose(wish).plan
        over = plan.parts[0].planes
        assert over is not None
        print(
            f"{plan.name}, by {plan.cover}: {over.prime:,} planes of a direction, "
            f"{plan.fakes / plan.users:.1f} fakes a user, planned error {plan.standard_error:.1f}"
        )
        played = play(plan, [hash_words(crowd, plan.question).codes], chance)
        for name, some in (("frequent", words[:200]), ("rare", words[1000:1100])):
            sought = points_of(plan.question, [*some, *NOBODY])
            truth = count_true_words(crowd, sought)
            result = conclude(plan, played.tallies, Analysis(listed=sought))
            found, (others,) = result.estimate, result.figures[0].rows
            held = (found.individual.lower <= truth.counts) & (
                truth.counts <= found.individual.upper
            )
            measured = float(np.sqrt(np.mean((found.counts - truth.counts) ** 2)))
            certain = [sought.labels[i] for i in np.flatnonzero(found.simultaneous.lower > 0)]
            print(
                f"  {len(sought.words)} words, {name}: measured error {measured:.1f}, "
                f"{100 * held.mean():.0f} % of the intervals cover the true count; certainly held, "
                f"all lines at once: {len(certain)}; made up: {sum(s in NOBODY for s in certain)}"
            )
            print(
                f"  {others.label}: {others.estimate:,.0f}, standard error "
                f"{others.standard_error:,.0f}, true {truth.figures['others'][0]:,}"
            )


if __name__ == "__main__":
    main()

"""Parts so small that every multiset can be listed, with what is seen of a person in each."""

from functools import cache

from mixtally.accounting.verification import derive_parts
from mixtally.model.shape import (
    GaussianShape,
    LaplaceShape,
    PairedGaussianShape,
    PairedLaplaceShape,
)
from verification.enumerate_all import SCALE, bag, by_coins, delta, flipped, hot, mixed, uniform
from verification.written import clear, flips, plain, plan_of

THIRD = SCALE // 3
SMALL = {
    "blanks of a mix": (flips(2, THIRD, blanks=4), 0),
    "a blank of a mix": (flips(3, SCALE // 50, blanks=1), 0),
    "blanks of people": (flips(2, SCALE // 5, own=(1, 0)), 3),
    "blanks by coins": (flips(2, SCALE // 4, own=(0, SCALE // 3)), 4),
    "blanks and coins": (flips(2, THIRD, own=(1, SCALE // 7 * 6)), 2),
    "capped blanks": (flips(3, SCALE // 5, blanks=2, cap=2), 0),
    "capped coins": (flips(2, SCALE // 9, own=(0, SCALE // 2), cap=1), 3),
    "zeros of a mix": (flips(1, SCALE // 10, most_set=None, blanks=5), 0),
    "zeros by coins": (flips(1, THIRD, most_set=None, own=(1, SCALE // 2)), 3),
    "many flips of a bit": (flips(1, SCALE // 8 * 3, most_set=None, blanks=9), 0),
    "zeros of which ones tell most": (flips(1, SCALE // 10 * 3, most_set=None, blanks=3), 0),
    "uniform": (clear(3, whole=1), 5),
    "uniform of two": (clear(2, whole=2), 3),
    "uniform by coins": (clear(3, coin=SCALE // 3), 5),
    "uniform and coins": (clear(2, whole=1, coin=SCALE // 5 * 4), 3),
    "shaped": (clear(2, shape=LaplaceShape(SCALE // 3, 2)), 0),
    "shaped steep": (clear(3, shape=LaplaceShape(SCALE >> 9, 1)), 0),
    "gaussian": (clear(2, shape=GaussianShape(3, 4)), 0),
    "gaussian at its end": (clear(3, shape=GaussianShape(8, 1)), 0),
    "paired": (clear(2, shape=PairedLaplaceShape(SCALE // 3, 2)), 0),
    "paired steep": (clear(2, shape=PairedLaplaceShape(SCALE >> 50, 3)), 0),
    "paired gaussian": (clear(2, shape=PairedGaussianShape(3, 4)), 0),
}
EPSILONS = (0.1, 0.7, 1.5)


def terms(name, epsilon):
    part, people = SMALL[name]
    return plain(plan_of(part, epsilon=epsilon, people=max(people, 2)))


def seen(name):
    """What an observer sees of a person with the first record, and with the second."""
    part, people = SMALL[name]
    records = [hot(0, part.bins), hot(1, part.bins) if part.bins > 1 else (0,)]
    if part.threshold is None and part.own is None:
        return [_shaped(part, record) for record in records]
    if part.threshold is None:
        fake, laws = uniform(part.bins), [{record: 1} for record in records]
    else:
        cap = part.layout.cap
        fake = flipped((0,) * part.bins, part.threshold, cap)
        laws = [flipped(record, part.threshold, cap) for record in records]
    if part.own is None:
        return [bag([fake] * part.recipe.count + [law]) for law in laws]
    return [by_coins(people, part.own.whole, part.own.coin, fake, law) for law in laws]


def _shaped(part, record):
    """Counts of the two bins that differ; the others' fakes are the same in both worlds."""
    law = dict(enumerate(part.recipe.weights))
    if part.recipe.paired:
        most, (first, second) = part.recipe.most, record
        return {(first + k, second + most - k): chance for k, chance in law.items()}
    return mixed(
        *(
            (1, {(first + record[0], second + record[1]): one * other})
            for first, one in law.items()
            for second, other in law.items()
        )
    )


@cache
def true_delta(name, epsilon):
    """By listing every multiset."""
    first, second = seen(name)
    return delta(first, second, epsilon) / sum(first.values())


def holds(name, epsilon):
    """Whether what is derived holds the true number, to twelve digits where no cap widens it."""
    (found,) = derive_parts(terms(name, epsilon))
    true, capped = true_delta(name, epsilon), SMALL[name][0].layout.cap is not None
    width = found.upper - found.lower
    return found.lower <= true <= found.upper and (capped or width <= 1e-12 * found.upper)

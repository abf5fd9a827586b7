"""Sets and rules as facts: what was found, beside the truth that only the lab knows."""

from collections.abc import Mapping, Sequence

import numpy as np

from mixtally.data.population import Population
from mixtally.estimate.rules import Ends, Items, Rule
from mixtally.report import counts
from mixtally.report.document import Facts
from mixtally.simulation.baskets.found import Found
from mixtally.simulation.baskets.held import holders, pairs_held
from mixtally.simulation.lab import Provenance

_True = Mapping[Items, int]
QUOTIENTS = ("support", "confidence", "lift")
"""The numbers of a rule, each with ends."""


def published(found: Found, about: Provenance, confidence: float) -> Facts:
    """What may be published: nothing in it needs the truth."""
    return _facts(found, about, confidence, about.told(simulation=False), None)


def facts(found: Found, about: Provenance, confidence: float, baskets: Population) -> Facts:
    """The same beside the truth."""
    true: dict[Items, int] = {(i,): count for i, count in enumerate(baskets.truth.tolist())}
    for alike in found.sets.values():
        sets = [one.items for one in alike]
        true.update(zip(sets, holders(baskets, sets).tolist(), strict=True))
    own = _facts(found, about, confidence, about.told(simulation=True), true)
    held = np.triu(pairs_held(baskets), 1)
    return {
        **own,
        "pairs_held": int((held > found.support).sum()),
        "ghosts": sum(true[one.items] <= found.support for one in found.every),
        "covered": _covered(own["sets"], ("lower", "upper", "truth")),
        "rules_covered": _covered(
            own["rules"],
            *((f"{name}_lower", f"{name}_upper", f"{name}_truth") for name in QUOTIENTS),
        ),
    }


def _covered(rows: Sequence[Facts], *names: tuple[str, str, str]) -> float | None:
    """Share of the rows all of whose intervals cover the truth; None without a row."""
    inside = [all(row[low] <= row[true] <= row[high] for low, high, true in names) for row in rows]
    return sum(inside) / len(inside) if inside else None


def _facts(
    found: Found, about: Provenance, confidence: float, source: str, true: _True | None
) -> Facts:
    result, label = found.items, found.items.question.label
    alone = None if true is None else [true[(i,)] for i in range(result.question.bins)]
    shown = [one for one in found.rules if one.confidence.lower >= confidence]
    return {
        "title": about.title,
        "source": source,
        "seed": about.seed,
        "reason": about.reason,
        "column": result.question.name,
        "support": found.support,
        "least_confidence": confidence,
        "level": found.level,
        "collection": counts.facts(result),
        "items": counts.count_rows(result, {} if alone is None else {"truth": alone}),
        "sets": [
            {
                "items": [label(i) for i in one.items],
                "size": len(one.items),
                "estimate": one.count,
                "standard_error": one.standard_error,
                "lower": one.lower,
                "upper": one.upper,
                **({} if true is None else {"truth": true[one.items]}),
            }
            for one in found.every
        ],
        "rules_found": len(found.rules),
        "rules": [
            {
                "given": [label(i) for i in rule.given],
                "then": label(rule.then),
                **_numbers(rule, found.items.plan.users, true),
            }
            for rule in shown
        ],
    }


def _numbers(rule: Rule, users: int, true: _True | None) -> Facts:
    """The numbers of a rule with their ends; and what they truly are, where that is known."""
    numbers: Facts = {}
    truths = None if true is None else _truths(rule, users, true)
    for name in QUOTIENTS:
        ends: Ends = getattr(rule, name)
        numbers[name] = ends.estimate
        numbers[f"{name}_lower"], numbers[f"{name}_upper"] = ends.lower, ends.upper
        if truths is not None:
            numbers[f"{name}_truth"] = truths[name]
    return numbers


def _truths(rule: Rule, users: int, true: _True) -> dict[str, float]:
    both = true[tuple(sorted((*rule.given, rule.then)))]
    given, then = true[rule.given], true[(rule.then,)]
    return {
        "support": both / users,
        "confidence": both / given if given else 0.0,
        "lift": users * both / (given * then) if given and then else 0.0,
    }

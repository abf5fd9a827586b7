"""The origin of every number of a plan, in one sentence each.

``mixtally plan --explain`` shows these sentences.
"""

from mixtally.model.certificate import Certificate
from mixtally.model.plan import Cover, Plan
from mixtally.model.shape import Shape

_FROM_REQUEST = "from the request"
_SOURCES: dict[str, str] = {
    "protocol": "the one asked for, or the least standard error of all that fit the request",
    "epsilon": _FROM_REQUEST,
    "delta_target": _FROM_REQUEST,
    "users": _FROM_REQUEST,
    "collections": _FROM_REQUEST,
    "observer": "who sees the shuffled messages: what a mix delivers to the collector",
    "bins": "the bins of all messages of a record; a bit in clear has two bins, no and yes",
    "prime": "the greatest prime for which the fakes cover all cells",
    "digits": "the fewest for all values; for an open domain the most that fit in eight bytes",
    "messages_of_a_record": "1 when the record travels whole, else one for each bit or attribute",
    "honest_share": _FROM_REQUEST,
    "hops": "from the request; 1 by default",
    "cover": "people, or every mix where mixes may draw the fakes",
    "fakes_counted": "honest share x fakes of the minimum crowd, rounded down; those of one mix",
    "crowd_counted": "honest share x minimum crowd when other people's flips or replaced values "
    "count, else 0",
    "flip_probability": "flip threshold / 2^64",
    "max_set": "from the question",
    "slots": "from the request, or the number with which the error is the smallest",
    "repeats": "once, or as often as the budget allows; every repeat is randomized afresh",
    "error_at": "people in the bin whose error decides: from the request, or the square root of "
    "the users",
    "standard_error_at": "the standard error of a bin with error_at people, including the noise "
    "of their replaced values",
    "replace_probability": "replace threshold / 2^64",
    "replace_threshold": "the least integer that keeps delta, given the fakes of the budget",
    "shape_shift": "the least number of fakes a bin with which the guarantee is kept",
    "shape_total": "2 x shape shift: the fakes of a mix in both bins together",
    "shape_variance": "the least with which the guarantee is kept; a tenth of delta pays for "
    "empty bins",
    "shape_ratio": "exp(-shape decay) x 2^64, rounded up",
    "shape_decay": "epsilon / 2 per collection and message: two bins lose one decay each",
    "mixes_adding": "the hops: any one of them may be the honest one, so all add their own",
    "messages_per_user": "a record's messages and a device's fakes, on average",
    "messages_per_mix": "the fakes that each mix adds to all parts, on average",
    "bytes_per_message": "of each message of a record as the collector reads it: a bit a bin, the "
    "bin's number, or the positions of set bits with a cap",
    "bytes_per_user": "slots of a bundle x bytes of their envelopes, a layer a hop and one for the "
    "collector; padding fills the slot of a fake that a coin does not give",
    "delta_lower": "the largest divergence found among the crowds named by the source",
}
_SUMMED = "; x (1 - 1 / bins) where a person has one of the bins, as the sum of all is known"
_NOISE = {
    "flip-blank": "N p q / (p - q)^2, N = users + fakes; Notes 2020, below (5.20)" + _SUMMED,
    "flip-uniform": "N p q / (p - q)^2 + fakes / bins, N = users + fakes; Notes 2020, below (5.20) "
    "and (5.10)" + _SUMMED,
    "single-bit": "N p q / (p - q)^2, N = users + fakes; Notes 2020, below (5.20)",
    "flip": "n p q / (k (p - q)^2) for k repeats; Notes 2020, below (5.20); k-randomization"
    + _SUMMED,
    "clear-uniform": "(fakes / bins)(1 - 1 / bins); Notes 2020, below (5.10); x (max set / "
    "slots)^2 and count x (max set / slots - 1) more if slots are sampled; over planes "
    "(users k (1 - k) + (fakes / prime)(1 - 1 / prime)) / (1 - k)^2, k the share of directions in "
    "which two values meet",
    "clear-shaped": "variance of the shape's table x mixes" + _SUMMED,
    "kary-response": "[n (g / d)(1 - g / d) + (fakes / d)(1 - 1 / d)] / (1 - g)^2, g the replace "
    "probability, d the bins, n all messages of records; about z g / (1 - g) more for a bin with "
    "z people",
}
_OVER = "; added up over the messages of a record and all collections"
_LOCAL = {
    "flip-blank": "2 k ln(p / q), k = max set: the bits in which two records can differ" + _OVER,
    "flip-uniform": "2 ln(p / q): the bits in which two records can differ" + _OVER,
    "single-bit": "ln(p / q), for each bit of a record" + _OVER,
    "flip": "k L ln(p / q): L bits may differ in each of k repeats" + _OVER,
    "clear-uniform": "infinite: answers travel in clear",
    "clear-shaped": "infinite: answers travel in clear",
    "kary-response": "ln(1 + (1 - g) d / g), g the replace probability, d the bins" + _OVER,
}


_PAIRED = {
    "shape_decay": "epsilon per collection and message: both bins together lose one decay",
    "standard_error": "square root of variance of the shape's table x mixes",
    "fakes": "shape total x messages of a record x mixes",
}
"""The sentences that differ if the fakes of two bins have a fixed total."""


def explain(plan: Plan) -> dict[str, str]:
    """Return the sentence on the origin of each fact of a plan, by the name of the fact.

    Raises
    ------
    KeyError
        If a fact has no sentence. The tests check that every fact has one.
    """
    certificate, name, mixed = plan.certificate, plan.protocol, plan.cover is Cover.MIXES
    special = {
        "delta": _delta(certificate),
        "status": "what was proved of the divergence; " + _delta(certificate),
        "source": "where the divergence is derived",
        "assumption": "the assumptions of the guarantee",
        "fakes": _fakes(name, mixed=mixed, counted=plan.count_flips),
        "minimum_crowd": "a round with fewer people is destroyed; from the request, or 1, because "
        "mixes draw the fakes"
        if mixed
        else "the people who certainly take part, from the request: with fewer, delta is larger",
        "flip_threshold": f"the least integer with which delta({certificate.epsilon:g}) <= "
        f"{plan.guarantee.delta:g}, by root finding on the exact divergence, or the least that "
        "keeps the requested local epsilon",
        "standard_error": "square root of " + _NOISE[name],
        "local_epsilon": _LOCAL[name],
    }
    if any(isinstance(part.recipe, Shape) and part.recipe.paired for part in plan.parts):
        special |= _PAIRED
    sources = _SOURCES | special
    return {fact: sources[fact] for fact in plan.facts()}


def _delta(certificate: Certificate) -> str:
    return f"computed again from the final integers, every error added: {certificate.source}"


def _fakes(name: str, *, mixed: bool, counted: bool) -> str:
    if mixed and name != "clear-shaped":
        return "what each mix may add, or as many as help, x hops"
    return {
        "clear-uniform": "the least number with which the guarantee is kept",
        "clear-shaped": "bins, and for sets their pads, x mean of the shape's table x mixes",
        "flip-uniform": "(messages per user - messages of a record) x users, or as few as suffice "
        "in clear",
        "kary-response": "the budget minus a record's own messages; replaced values provide the "
        "rest of the cover",
        "flip": "none: other people's flips hide a person"
        if counted
        else "none: a person's own flips hide their answer",
    }.get(
        name,
        "(messages per user - messages of a record) x users, or as few as help: smaller "
        "budgets were tried",
    )

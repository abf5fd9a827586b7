"""Known totals: counts that add up to the number of people who took part.

If everyone has exactly one of d answers, the true counts of these answers add up to the number of
people. A total is known for a question with one answer and for each attribute of a record. A total
is also known for each bit that is sent in clear as "no" or "yes", by itself or as a slot of a
record. No total is known for sets, for flipped bits, and for an open domain, where not all words
are listed. The planner and the estimator call the same function, so the error that the planner
states is the error of the result.
"""

from collections.abc import Sequence

from mixtally.model.part import Part
from mixtally.model.question import Kind, Question


def known_totals(question: Question, parts: Sequence[Part]) -> tuple[tuple[int, ...], ...]:
    """Return, for each part, the sizes of groups of consecutive bins with a known sum of counts.

    Parameters
    ----------
    question : Question
        The whole question.
    parts : sequence of Part
        The parts in which a record is sent, one for each of its messages.

    Returns
    -------
    tuple of tuple of int
        For each part, the sizes of the groups in order of bins. The true counts of each group add
        up to the number of people. The sizes add up to the number of the part's bins. The tuple of
        a part is empty if no total is known.
    """
    none: tuple[tuple[int, ...], ...] = ((),) * len(parts)
    if question.hashed is not None:
        return none
    if question.kind is Kind.ONE:
        return ((question.bins,),)
    if question.attributes is not None:
        whole = len(parts) == 1
        return (question.attributes,) if whole else tuple((one,) for one in question.attributes)
    if question.kind is Kind.BITS and len(parts) == 1 and parts[0].bins == 2 * question.bins:
        return ((2,) * question.bins,)
    in_clear = len(parts) == question.bins and all(part.bins == 2 for part in parts)
    if question.kind is Kind.BITS and in_clear:
        return ((2,),) * len(parts)
    return none

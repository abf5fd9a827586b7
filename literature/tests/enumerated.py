"""The findings that are decided by enumeration."""

from functools import cache

from literature import maximal, notes_bits, notes_tails, repeats_claims, sufficient_claims


@cache
def everything():
    """Return all these findings, computed once."""
    parts = (
        sufficient_claims.by_enumeration, lambda: maximal.findings(lambda *_: None),
        repeats_claims.anonymity, repeats_claims.growth, repeats_claims.choices,
        notes_bits.ratios, notes_bits.symmetries, notes_bits.zeros, notes_bits.recurrences,
        notes_tails.bounds, notes_tails.one_more_bit,
    )  # fmt: skip
    return tuple(one for part in parts for one in part())


def only(findings, document, place, what=""):
    """Return the one finding at this place whose text contains ``what``."""
    (one,) = [f for f in findings if (f.document, f.place) == (document, place) and what in f.what]
    return one

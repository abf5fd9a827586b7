"""Reasons why a row of the table is below its target, if they are known."""

_REASONS = {
    "randomize at the plan's q": (
        "most of the time is spent on writing rows into memory that is new to the process, a "
        "tenth on random words"
    ),
    "randomize, q = 0.27, d = 1,000": (
        "the peer draws a row in one call of NumPy, whose cost per bit falls as rows grow; "
        "here every word of flips needs 8.45 words of the keystream, and half of the time is "
        "spent on calls of NumPy with few words"
    ),
    "  relative to a batch in NumPy": (
        "every word of flips needs 8.45 words of a secure keystream; the batch uses one number "
        "of an insecure generator for each bit"
    ),
    "tally and estimate": (
        "NumPy adds rows at a fifth of the speed at which it reads them; the compiled kernel "
        "adds at half of that speed, but takes seconds to load, too long for 26 MB"
    ),
    "one report": (
        "a device uses only the standard library: three fifths of the time are spent on the "
        "comparison of a hundred words with the threshold in one long integer, and a seventh on "
        "drawing them"
    ),
    "count": (
        "counting a word needs five logical operations, in NumPy each on a plane in the cache; "
        "reading a word is one access to memory, so the ratio falls as memory gets faster"
    ),
    "positions of rare flips": (
        "a gap needs words of the keystream and table look-ups; a digit of the dense method needs "
        "one word and one operation"
    ),
    "dense flips, q = 0.3, of": (
        "half of the time is spent on calls of NumPy with the few words that later digits decide, "
        "a quarter on operations with the first eight; a faster keystream lowers the ratio"
    ),
    "dense flips, q = 0.02, of": (
        "half of the time is spent on calls of NumPy with the few words that later digits decide, "
        "a quarter on operations with the first eight; a faster keystream lowers the ratio"
    ),
    "rare flips of packed rows, q = 0.001": (
        "three quarters of the time are spent on drawing positions, the rest on copying rows and "
        "flipping"
    ),
    "check and tally positions, of": (
        "half of the time is spent on cutting slots out of packed bits and a quarter on checking "
        "them; np.bincount receives unpacked numbers"
    ),
    "check and tally positions, compiled": (
        "every message is checked before it is counted, and its slots are cut out of packed bits; "
        "np.bincount receives unpacked numbers"
    ),
    "flip-blank delta": ("dozens of calls of NumPy with 140 numbers each dominate the time"),
    "flip-blank calibration": (
        "six deltas and a search between them, limited by the time of calls of NumPy"
    ),
    "plans for": (
        "a plan for several messages or collections composes about fifty divergences in a search "
        "and a hundred in its proof, for every protocol and up to thirteen budgets; the slowest "
        "requests compose sets or whole vectors, or search for the closest feasible requests"
    ),
    "the same on Spark": (
        "Spark copies envelopes to its Python workers and back, and shuffles them"
    ),
    "opening and ordering": (
        "in addition to opening, envelopes are sent to the workers and messages are sent back"
    ),
    "a commit of": (
        "if a sync costs 0.2 ms, as on a fast disk, the other writes of SQLite cost more than the "
        "sync; if a sync costs 6 ms, the ratio is above 0.8"
    ),
}


def reason(what: str) -> str:
    """Return the reason for the row with this name, or a sentence that none is known."""
    for begins, why in _REASONS.items():
        if what.startswith(begins):
            return why
    return "the reason is not known"

"""Why a line of the table lies below its target, where that is known."""

_REASONS = {
    "randomize at the plan's q": (
        "most of the time goes into writing rows into memory that is new to the process, a "
        "tenth into chance"
    ),
    "randomize, q = 0.27, d = 1,000": (
        "the peer draws a row in one call of NumPy, which costs it less a bit as rows grow; "
        "here every word of flips takes 8.45 words of the keystream, and half of the time are "
        "calls of NumPy on few words"
    ),
    "  beside a batch in NumPy": (
        "every word of flips takes 8.45 words of a secure keystream; the batch has one number "
        "of a generator that is not secure for each bit"
    ),
    "tally and estimate": (
        "NumPy adds up rows at a fifth of the speed at which it reads them; the compiled "
        "kernel does at half of it, and takes seconds to load: 26 MB do not wait for it"
    ),
    "one report": (
        "a device has the standard library alone: three fifths of the time compare a hundred "
        "words with the threshold in one long integer, a seventh draws them"
    ),
    "count": (
        "a word takes five logical operations, in NumPy each of them on a plane in the cache; "
        "to read it takes one wait for memory, so the faster memory is, the less of it this is"
    ),
    "positions of rare flips": (
        "a gap takes words of the keystream and looks into tables; a digit of the dense way takes "
        "its word and one operation"
    ),
    "dense flips, q = 0.3, of": (
        "half of the time are calls of NumPy on the few words that later digits settle, a quarter "
        "operations on the first eight; a faster keystream only shows that more"
    ),
    "dense flips, q = 0.02, of": (
        "half of the time are calls of NumPy on the few words that later digits settle, a quarter "
        "operations on the first eight; a faster keystream only shows that more"
    ),
    "rare flips of packed rows, q = 0.001": (
        "three quarters of the time draw the positions, the rest copies rows and flips"
    ),
    "check and tally positions, of": (
        "half of the time cuts slots out of packed bits and a quarter checks them; np.bincount "
        "has its numbers ready"
    ),
    "check and tally positions, compiled": (
        "every message is checked before it counts, and its slots are cut out of packed bits; "
        "np.bincount has its numbers ready"
    ),
    "flip-blank delta": ("dozens of calls of NumPy on 140 numbers each: the calls are the time"),
    "flip-blank calibration": (
        "six deltas and a search between them, as slow as this machine calls NumPy"
    ),
    "plans for": (
        "a plan for several messages or collections composes a curve of some fifty divergences in "
        "a search and of a hundred in its proof, for every protocol and for up to thirteen budgets "
        "of its front; the slowest compose sets or whole vectors, or plan what is nearest"
    ),
    "the same on Spark": (
        "Spark hands envelopes to its Python workers and back, and shuffles them"
    ),
    "opening and ordering": (
        "beside the opens, envelopes go to the workers and messages come back"
    ),
    "a commit of": (
        "where a sync costs .2 ms, as on a fast disk, what SQLite writes beside it costs more "
        "than the sync; where it costs 6 ms the ratio is above .8"
    ),
}


def reason(what: str) -> str:
    """Of the line that is called so; that none is known is said as well."""
    for begins, why in _REASONS.items():
        if what.startswith(begins):
            return why
    return "the reason is not known"

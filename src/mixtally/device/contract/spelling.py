"""Words as symbols of a public alphabet, and the bin of a word among the extensions of prefixes.

Symbol 0 ends a word. The symbols 1, 2, .. are the characters of the alphabet. The last symbol, the
escape, announces a character outside the alphabet. Its code point follows in digits, which are the
symbols 1, 2, .. again, most significant first.

A round asks for one or several symbols after a prefix. Let A be the number of all symbols, and L
the number of symbols that are asked for. They are the digits of a number s in base A, most
significant first. Prefix i followed by these symbols is bin i A^L + s. The last bin is for all
other words.
"""

from collections.abc import Sequence

from mixtally.device.contract.question import Prefixes
from mixtally.errors import RefusedError

END = 0
CODE_POINTS = 0x110000


def code_digits(base: int) -> int:
    """Return the number of digits of a code point in this base."""
    digits, reach = 1, base
    while reach < CODE_POINTS:
        digits, reach = digits + 1, reach * base
    return digits


def spell(word: str, alphabet: str, length: int) -> list[int]:
    """Return the first symbols of a word, padded with end symbols.

    Parameters
    ----------
    word : str
        The word, in Unicode form NFC.
    alphabet : str
        The public alphabet: the characters that are one symbol each.
    length : int
        The number of symbols to return.
    """
    base = len(alphabet)
    digits = code_digits(base)
    symbols: list[int] = []
    for character in word[:length]:
        number = alphabet.find(character)
        if number >= 0:
            symbols.append(number + 1)
            continue
        code = ord(character)
        symbols.append(base + 1)
        symbols += [code // base**place % base + 1 for place in range(digits - 1, -1, -1)]
    return [*symbols[:length], *[END] * (length - len(symbols))]


def find_extension_bin(
    word: str | None, asked: Prefixes, prefixes: Sequence[Sequence[int]], *, closing: bool
) -> int:
    """Return the number of the bin of a word in one round of a search for words.

    Parameters
    ----------
    word : str or None
        The word; None if the person has no word.
    asked : Prefixes
        The rules of the question.
    prefixes : sequence of sequence of int
        The prefixes of the round as symbols, all of the same length.
    closing : bool
        Whether the round counts only complete words: a prefix and the symbols that the round asks
        for, without further symbols.

    Returns
    -------
    int
        A number in [0, ``asked.most * asked.extension_count``]. The last bin is for people whose
        word begins with none of the prefixes, or who have no word. In a closing round it is also
        for longer words.

    Raises
    ------
    RefusedError
        If the question does not permit the prefixes.
    """
    depth = check_prefixes(asked, prefixes)
    last = asked.most * asked.extension_count
    if word is None:
        return last
    symbols = spell(word, asked.alphabet, depth + asked.symbols + 1)
    if closing and symbols.pop() != END:
        return last
    followed = 0
    for symbol in symbols[depth : depth + asked.symbols]:
        followed = followed * asked.symbol_count + symbol
    for place, prefix in enumerate(prefixes):
        if list(prefix) == symbols[:depth]:
            return place * asked.extension_count + followed
    return last


def check_prefixes(asked: Prefixes, prefixes: Sequence[Sequence[int]]) -> int:
    """Return the common length of ``prefixes``, or raise RefusedError for invalid ones."""
    if not 1 <= len(prefixes) <= asked.most:
        raise _prefix_error("prefixes-miscounted", f"1 to {asked.most} prefixes", len(prefixes))
    if not all(isinstance(prefix, list | tuple) for prefix in prefixes):
        raise _prefix_error("prefix-symbol", "lists of symbols", prefixes)
    depth = len(prefixes[0])
    if any(len(prefix) != depth for prefix in prefixes) or depth >= asked.longest:
        expected = f"prefixes of one length below {asked.longest}"
        raise _prefix_error("prefix-length", expected, [len(prefix) for prefix in prefixes][:9])
    for prefix in prefixes:
        if any(
            type(symbol) is not int or not 1 <= symbol < asked.symbol_count for symbol in prefix
        ):
            raise _prefix_error(
                "prefix-symbol", f"symbols 1 to {asked.symbol_count - 1}", list(prefix)
            )
    if len({tuple(prefix) for prefix in prefixes}) < len(prefixes):
        raise _prefix_error("prefix-twice", "different prefixes", "two equal ones")
    return depth


def _prefix_error(reason: str, expected: str, got: object) -> RefusedError:
    do = "do not take part in this round: the contract does not permit its prefixes"
    return RefusedError(reason, "prefixes", expected=expected, got=got, do=do)

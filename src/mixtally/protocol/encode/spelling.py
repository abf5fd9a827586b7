"""Spelling of words of any script in the symbols of a small public alphabet.

The search for frequent words spells every word once and then compares prefixes of symbols. Symbol 0
ends a word, and the symbols from 1 are the characters of the alphabet. The last symbol is an
escape: the code point of a character outside the alphabet follows in digits, which use the symbols
from 1 again. So every text can be spelled, and the alphabet decides only which texts have short
spellings. The alphabet is fixed before anyone answers.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from mixtally.device.contract.spelling import CODE_POINTS, END, code_digits, spell
from mixtally.errors import DataError, ParameterError
from mixtally.primitives.draw import Integers

Symbols = NDArray[np.uint8]

DEFAULT_ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789" + " .-'"
"""Letters of both cases, digits, and the punctuation of names and host names."""
LEAST_CHARACTERS, MOST_CHARACTERS = 2, 200
_SURROGATES = range(0xD800, 0xE000)
_HALVES = re.compile("[\ud800-\udfff]")


def to_nfc(word: str) -> str:
    """Return a word in form NFC, the form in which words are spelled."""
    return normalize("NFC", word)


@dataclass(frozen=True, slots=True)
class Spelling:
    """A public alphabet of 2 to 200 different characters.

    Raises ParameterError for another number of characters, or for a character that is repeated.
    """

    characters: str = DEFAULT_ALPHABET

    def __post_init__(self) -> None:
        count = len(self.characters)
        twice = [one for one, times in Counter(self.characters).items() if times > 1]
        if not LEAST_CHARACTERS <= count <= MOST_CHARACTERS or twice:
            raise ParameterError(
                "alphabet",
                expected=f"{LEAST_CHARACTERS} to {MOST_CHARACTERS} different characters",
                got=f"{twice[0]!r} more than once" if twice else f"{count} characters",
                do="name the characters that most words are made of, each once",
            )

    @classmethod
    def from_characters(cls, characters: str) -> "Spelling":
        """Return the spelling over an alphabet that a user typed, converted to form NFC.

        Words are spelled in form NFC, so a character in another form would never occur in them.
        Raises ParameterError as the class does, and for half of a surrogate pair.
        """
        if _HALVES.search(characters):
            raise ParameterError(
                "alphabet",
                expected="characters of text",
                got="half of a surrogate pair",
                do="write the alphabet in UTF-8",
            )
        return cls(to_nfc(characters))

    @property
    def size(self) -> int:
        """The number of symbols: the end, the characters and the escape."""
        return len(self.characters) + 2

    @property
    def escape(self) -> int:
        """The symbol after which a code point follows in digits."""
        return self.size - 1

    @property
    def digits(self) -> int:
        """The number of digits of a code point in base ``len(characters)``."""
        return code_digits(len(self.characters))

    def most_symbols(self, characters: int, outside: int) -> int:
        """Return the number of symbols that spell a word, without the end symbol.

        Parameters
        ----------
        characters : int
            The number of characters of the word.
        outside : int
            The number of characters of the word that the alphabet does not have. Each of them is
            spelled as the escape and its digits.
        """
        return characters + outside * self.digits

    def count_outside(self, words: Sequence[str]) -> Integers:
        """Return how many characters of every word are not in the alphabet, shape (words,)."""
        known = frozenset(self.characters)
        return np.array(
            [sum(one not in known for one in to_nfc(word)) for word in words],
            dtype=np.int64,
        )

    def spell(self, words: Sequence[str], length: int) -> Symbols:
        """Return the first ``length`` symbols of every word, shape (words, length).

        Words are converted to form NFC, and short words are filled with end symbols. Raises
        DataError for an empty word and for half of a surrogate pair.
        """
        symbols = np.empty((len(words), length), dtype=np.uint8)
        for row, word in enumerate(words):
            looked_at = to_nfc(word)[:length]
            if not word:
                raise DataError(
                    f"word {row}",
                    expected="at least one character",
                    got="an empty word",
                    do="remove it, or write a word for it",
                )
            if _HALVES.search(looked_at):
                raise DataError(
                    f"word {row}",
                    expected="text",
                    got="half of a surrogate pair",
                    do="read the data as UTF-8",
                )
            symbols[row] = spell(looked_at, self.characters, length)
        return symbols

    def decode(self, symbols: Sequence[int]) -> str | None:
        """Return the text that ``symbols`` spell, or None if they spell none.

        ``symbols`` must not include the end symbol.
        """
        text, place = "", 0
        while place < len(symbols):
            symbol, place = symbols[place], place + 1
            if symbol != self.escape:
                if symbol == END:
                    return None
                text += self.characters[symbol - 1]
                continue
            digits = symbols[place : place + self.digits]
            place += self.digits
            if len(digits) < self.digits or END in digits or self.escape in digits:
                return None
            code = 0
            for digit in digits:
                code = code * len(self.characters) + digit - 1
            if code >= CODE_POINTS or code in _SURROGATES or chr(code) in self.characters:
                return None
            text += chr(code)
        return text

    def format_prefix(self, symbols: Sequence[int]) -> str:
        """Return a prefix as text for readers; an ellipsis replaces an unfinished escape."""
        for cut in range(len(symbols), -1, -1):
            text = self.decode(symbols[:cut])
            if text is not None:
                return text + "…" * (cut < len(symbols))
        return "…"

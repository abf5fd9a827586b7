"""Words of any script as symbols of a small public alphabet, one character or escape at a time.

Symbol 0 ends a word, symbols 1.. are the characters of the alphabet, and the last symbol announces
a character outside it, whose code point follows in digits (symbols 1.. again). So every text can be
spelled, and the alphabet decides only what is spelled briefly. It is fixed before anyone answers.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from mixtally.contract.spelling import CODE_POINTS, END, code_digits, spell
from mixtally.errors import DataError, ParameterError

Symbols = NDArray[np.uint8]

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789'"
LEAST_CHARACTERS, MOST_CHARACTERS = 2, 200
_SURROGATES = range(0xD800, 0xE000)
_HALVES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Spelling:
    """The public alphabet; ``characters`` are distinct, 2 to 200 of them.

    Raises ParameterError for another number of characters or one that is named twice.
    """

    characters: str = LETTERS

    def __post_init__(self) -> None:
        count = len(self.characters)
        if not LEAST_CHARACTERS <= count <= MOST_CHARACTERS or len(set(self.characters)) < count:
            raise ParameterError(
                "alphabet",
                wanted=f"{LEAST_CHARACTERS} to {MOST_CHARACTERS} different characters",
                got=f"{count}, {len(set(self.characters))} different",
                do="name the characters that most words are made of, each once",
            )

    @property
    def size(self) -> int:
        """Symbols in all: the end, the characters, the escape."""
        return len(self.characters) + 2

    @property
    def escape(self) -> int:
        """The symbol that announces a code point in digits."""
        return self.size - 1

    @property
    def digits(self) -> int:
        """Digits of a code point, in base ``len(characters)``."""
        return code_digits(len(self.characters))

    def spell(self, words: Sequence[str], length: int) -> Symbols:
        """The first ``length`` symbols of every word in form NFC, ends included.

        Its shape is (words, length).

        Raises DataError for an empty word or one that is not text (a lone surrogate).
        """
        symbols = np.empty((len(words), length), dtype=np.uint8)
        for row, word in enumerate(words):
            looked_at = normalize("NFC", word)[:length]
            if not word:
                raise DataError(
                    f"word {row}",
                    wanted="at least one character",
                    got="an empty word",
                    do="remove it, or write a word for it",
                )
            if _HALVES.search(looked_at):
                raise DataError(
                    f"word {row}",
                    wanted="text",
                    got="half of a surrogate pair",
                    do="read the data as UTF-8",
                )
            symbols[row] = spell(looked_at, self.characters, length)
        return symbols

    def read(self, symbols: Sequence[int]) -> str | None:
        """The text that spells ``symbols``, without an end; None when no text does."""
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

    def show(self, symbols: Sequence[int]) -> str:
        """A prefix for people: an unfinished escape is shown as an ellipsis."""
        for cut in range(len(symbols), -1, -1):
            text = self.read(symbols[:cut])
            if text is not None:
                return text + "…" * (cut < len(symbols))
        return "…"

"""Any text can be spelled and read back, briefly where the alphabet knows it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixtally.device.contract.spelling import END
from mixtally.errors import DataError, ParameterError
from mixtally.protocol.encode.prefixes import extend_prefixes, extension_bins
from mixtally.protocol.encode.spelling import DEFAULT_ALPHABET, Spelling, to_nfc

ALPHABETS = ["ab", "abc", DEFAULT_ALPHABET, "".join(map(chr, range(33, 127)))]
WORDS = ["a", "ab", "abc", "b", "ba", "é", "ab", "aé", "日本", "A", "\0", "it's", "x" * 40]


@given(st.text(min_size=1, max_size=6), st.sampled_from(ALPHABETS))
def test_what_is_spelled_is_read_back(word, characters):
    spelling = Spelling(characters)
    row = spelling.spell([word], 6 * (spelling.digits + 1) + 1)[0].tolist()
    end = row.index(END)
    assert spelling.decode(row[:end]) == word
    assert set(row[end:]) == {END}
    assert max(row) < spelling.size


@given(st.lists(st.integers(0, len(DEFAULT_ALPHABET) + 1), max_size=12))
def test_two_spellings_are_never_the_same_word(symbols):
    spelling = Spelling()
    text = spelling.decode(symbols)
    if text:
        row = spelling.spell([text], len(symbols) + 1)[0].tolist()
        assert row == [*symbols, END]


def test_known_characters_take_one_symbol_and_others_an_escape():
    spelling = Spelling("ab")
    assert spelling.spell(["ab"], 4).tolist() == [[1, 2, 0, 0]]
    row = spelling.spell(["c"], 30)[0].tolist()
    assert row[0] == spelling.escape
    assert row[1 : 1 + spelling.digits] == [int(d) + 1 for d in f"{ord('c'):0{spelling.digits}b}"]


def test_long_words_are_cut_without_an_end():
    assert Spelling("ab").spell(["abab"], 3).tolist() == [[1, 2, 1]]


def test_what_no_text_spells_is_not_read():
    spelling = Spelling("ab")
    big = [spelling.escape, *[2] * spelling.digits]
    known = [spelling.escape, *[int(d) + 1 for d in f"{ord('a'):0{spelling.digits}b}"]]
    for symbols in ([1, END, 1], [spelling.escape, 1], big, known, [spelling.escape]):
        assert spelling.decode(symbols) is None
    assert spelling.format_prefix([1, spelling.escape, 1]) == "a…"
    assert spelling.format_prefix([1, 2]) == "ab"


def test_an_empty_word_and_half_a_character_are_refused():
    with pytest.raises(DataError, match=r"word 1: expected at least one character, got an empty"):
        Spelling().spell(["a", ""], 3)
    with pytest.raises(DataError, match=r"word 0: expected text, got half of a surrogate pair"):
        Spelling().spell(["\ud800"], 3)


@pytest.mark.parametrize("characters", ["", "a", "aa", "aba", "".join(map(chr, range(300, 501)))])
def test_an_alphabet_of_the_wrong_size_is_refused(characters):
    with pytest.raises(ParameterError, match="alphabet: expected 2 to 200 different characters"):
        Spelling(characters)


def test_a_doubled_character_is_named_also_when_it_is_typed_in_two_forms():
    with pytest.raises(ParameterError, match=r"got 'a' more than once\. Name the characters"):
        Spelling.from_characters("abca")
    with pytest.raises(ParameterError, match="got 'é' more than once"):
        Spelling.from_characters("abé" + "e\u0301")
    with pytest.raises(ParameterError, match="half of a surrogate pair"):
        Spelling.from_characters("ab\ud800")
    assert Spelling.from_characters("ae\u0301").characters == "aé"


@given(st.text(min_size=1, max_size=9), st.sampled_from(ALPHABETS))
def test_the_symbols_of_a_word_follow_from_its_characters(word, characters):
    spelling = Spelling(characters)
    (strange,) = spelling.count_outside([word]).tolist()
    whole = spelling.most_symbols(len(to_nfc(word)), strange)
    row = spelling.spell([word], whole + 2)[0].tolist()
    assert row.index(END) == whole


def test_ordinary_names_take_a_symbol_a_character():
    words = ["London", "new york", "www.host-1.example", "O'Neill", "A4"]
    assert Spelling().count_outside([*words, "Köln"]).tolist() == [0, 0, 0, 0, 0, 1]


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_a_bin_is_the_extension_of_the_prefix_a_word_starts_with(depth):
    spelling = Spelling("ab")
    symbols = spelling.spell(WORDS, depth + 1)
    starts = np.unique(symbols[:, :depth], axis=0)
    starts = starts[(starts != END).all(axis=1)][::-1]
    kept = starts[: max(1, len(starts) - 1)]  # leaves one out, to be everything else
    bins = len(kept) * spelling.size + 5
    found = extension_bins(symbols, kept, spelling.size, bins)
    lookup = {tuple(row): i for i, row in enumerate(kept.tolist())}
    for row, bin_ in zip(symbols.tolist(), found.tolist(), strict=True):
        place = lookup.get(tuple(row[:depth]))
        assert bin_ == (bins - 1 if place is None else place * spelling.size + row[depth])
    inside = found[found < bins - 1]
    grown = extend_prefixes(kept, inside, spelling.size)
    assert grown.tolist() == symbols[found < bins - 1].tolist()
    whole = spelling.spell(WORDS, depth + 2)
    closed = extension_bins(whole, kept, spelling.size, bins, closing=True)
    assert closed.tolist() == np.where(whole[:, depth + 1] == END, found, bins - 1).tolist()

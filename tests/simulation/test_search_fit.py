"""Words that do not fit a search are refused before it is played; the options named do fit."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

from mixtally.app.words import SearchOptions
from mixtally.errors import DataError
from mixtally.lab.simulation.heavy import Search
from mixtally.lab.simulation.heavy.feasibility import (
    check_frequency,
    check_lengths,
    collect_alphabet,
)
from mixtally.model.guarantee import Guarantee
from mixtally.protocol.encode.spelling import Spelling

PROMISED = Guarantee(epsilon=1.0, delta=1e-6)


def search_of(options, words, people):
    """The search for ``words`` under ``options``."""
    spelling = options.spelling(words, people)
    rounds, symbols = options.search_rounds(spelling)
    users = int(people.sum())
    return Search(
        guarantee=PROMISED, users=users, top=options.top, rounds=rounds, symbols=symbols,
        spelling=spelling,
    )  # fmt: skip


def fits(options, words, people, least=1):
    """Raise as ``check_lengths``, where searches need words of ``least`` people."""
    check_lengths(
        search_of(options, words, people),
        words,
        people,
        lambda _: SimpleNamespace(least_count=least),
        longest=options.longest,
        outside=options.outside,
    )


CROWDS = {
    "hosts": ["www.a.example", "www.bb.example", "mail.ccc.example"],
    "german": ["Straße", "grün", "Überschwemmungsgebiet"],
    "russian": ["привет", "да", "спасибо большое"],
    "persian": ["سلام", "خداحافظ", "متشکرم"],
    "mixed": ["a", "b" * 14, "日本語"],
}


@pytest.mark.parametrize("name", CROWDS)
def test_each_option_that_a_refusal_names_is_enough(name):
    words, people = tuple(CROWDS[name]), np.array([50, 30, 20])
    with pytest.raises(DataError) as refused:
        fits(SearchOptions(), words, people)
    longer = re.search(r"--longest (\d+)", refused.value.do)
    longest = int(longer[1]) if longer else 10
    ways = [SearchOptions(longest=longest)]
    if "--outside" in refused.value.do:
        outside = int(re.search(r"--outside (\d+)", refused.value.do)[1])
        ways = [
            SearchOptions(longest=longest, outside=outside),
            SearchOptions(longest=longest, alphabet_from_data=True),
            SearchOptions(longest=longest, alphabet=collect_alphabet(words, people)),
        ]
    assert refused.value.do.endswith("or count a list of words with `mixtally simulate "
                                     "--candidates FILE`")  # fmt: skip
    for way in ways:
        fits(way, words, people)


def test_one_in_a_hundred_may_be_too_long_and_no_more():
    words = ("short", "much too long for it")
    fits(SearchOptions(), words, np.array([990, 10]))
    with pytest.raises(DataError, match=r"from 99 % of the people, got 1.1 % that are longer"):
        fits(SearchOptions(), words, np.array([989, 11]))


def test_an_option_that_would_find_nothing_is_not_named():
    words, people = ("much too long for it", "even longer than that"), np.array([60, 40])
    with pytest.raises(DataError, match="the most frequent word has 60") as refused:
        fits(SearchOptions(), words, people, least=61)
    assert "--longest" not in str(refused.value)
    assert "--candidates" in refused.value.do
    with pytest.raises(DataError, match="--longest 21"):
        fits(SearchOptions(), words, people, least=60)
    with pytest.raises(DataError, match="a search has at most 64 rounds"):
        fits(SearchOptions(), ("x" * 700,), people[:1])


def test_longest_counts_characters_and_those_outside_the_alphabet():
    spelling = Spelling()
    for longest, outside in ((10, 0), (10, 2), (3, 3)):
        options = SearchOptions(longest=longest, outside=outside)
        rounds, symbols = options.search_rounds(spelling)
        word = "é" * outside + "a" * (longest - outside)
        fits(options, (word,), np.array([9]))
        assert (rounds - 1) * symbols < longest + outside * spelling.digits <= rounds * symbols


def test_a_word_must_reach_the_count_that_a_search_finds():
    words, people = ("ab", "x" * 40), np.array([70, 90])
    search = search_of(SearchOptions(), words, people)
    check_frequency(SimpleNamespace(search=search, least_count=70), words, people)
    with pytest.raises(DataError, match=r"about 71 people hold.* got 70 people"):
        check_frequency(SimpleNamespace(search=search, least_count=71), words, people)


def test_an_alphabet_of_the_data_has_what_most_people_need():
    many = tuple(chr(code) for code in range(0x4E00, 0x4E00 + 300))
    people = np.arange(300)
    assert collect_alphabet(many, people) == "".join(many[100:])
    assert collect_alphabet(("aa",), np.array([2])) == "ab"
    assert collect_alphabet(("e\u0301b",), np.array([2])) == "bé"

"""Rounds that ask for words by prefixes: what is proposed, and how bins are named."""

import pytest

from helpers import contracts
from mixtally.device.contract.plan import Prefixes as DevicePrefixes
from mixtally.device.contract.spelling import check_prefixes
from mixtally.errors import ParameterError
from mixtally.model.contract import Prefixes
from mixtally.model.question import Question
from mixtally.server.collector.prefixes import name_prefix_bins, spell_prefixes

ASKED = Prefixes(alphabet="abc", most=3, longest=4)
DEVICE = DevicePrefixes(alphabet="abc", most=3, longest=4, symbols=1)


def spelled():
    return contracts.plan_of(
        Question(name="word", bins=ASKED.bins), [contracts.shaped(ASKED.bins)], prefixes=ASKED
    )


def test_words_become_the_symbols_that_devices_take():
    found = spell_prefixes(ASKED, ["ab", "ca"])
    assert found == ((1, 2), (3, 1))
    assert check_prefixes(DEVICE, found) == 2
    assert spell_prefixes(ASKED, [""]) == ((),)


@pytest.mark.parametrize(
    "words", [[], ["a", "ab"], ["ab", "ab"], ["abca"], ["a", "b", "c", "\N{SNOWMAN}"], ["a"] * 4]
)
def test_words_that_the_question_does_not_allow(words):
    with pytest.raises(ParameterError, match="different ones of one length"):
        spell_prefixes(ASKED, words)


def test_bins_are_named_by_what_they_continue():
    asked = name_prefix_bins(spelled(), ((1, 2), (3, 1)))
    assert asked.labels[:5] == ("ab (ends)", "aba", "abb", "abc", "ab…")
    assert asked.labels[5] == "ca (ends)"
    assert asked.labels[10] == "(bin 10: not asked)"
    assert asked.labels[-1] == "(all others)"
    assert len(set(asked.labels)) == asked.bins == 16
    assert name_prefix_bins(spelled(), None).labels[:5] == (" (ends)", "a", "b", "c", "…")


def test_names_differ_also_where_escapes_are_unfinished():
    asked = name_prefix_bins(spelled(), ((4, 1), (4, 2)))
    assert len(set(asked.labels)) == asked.bins

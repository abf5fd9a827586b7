"""What a search looks at, by hand: bins of a round, tests of all rounds, words that count."""

import pytest

from mixtally.lab.simulation.heavy import Search
from mixtally.lab.simulation.heavy.facts import score_words
from mixtally.model.guarantee import Guarantee
from mixtally.protocol.encode.spelling import Spelling


@pytest.mark.parametrize("rounds", [1, 5])
@pytest.mark.parametrize("keep", [None, 1, 7])
def test_every_extension_has_a_bin_and_all_else_one_more(rounds, keep):
    promised = Guarantee(epsilon=1.0, delta=1e-6)
    search = Search(
        guarantee=promised, users=1000, top=2, rounds=rounds, keep=keep, spelling=Spelling("abc")
    )
    kept = 6 if keep is None else keep
    assert search.bins == kept * 5 + 1
    assert search.bins_in_all_rounds == rounds * search.bins


def test_only_frequent_words_are_right():
    held = {"a": 10, "b": 5, "c": 1}
    assert score_words(["c"], held, 1).recall == 0.0
    assert score_words(["c", "a"], held, 2).precision == 0.5
    assert score_words(["a", "b"], held, 2).recall == 1.0

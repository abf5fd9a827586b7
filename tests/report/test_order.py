"""The order in which bins are listed: their own where they have one, else that of their counts."""

import pytest

from mixtally.model.question import Question
from mixtally.report.counts import has_own_order

CASES = {
    "numbers found in the data": (("1", "2", "10"), False, True),
    "decimals and signs": (("-1", "0.5", "+3"), False, True),
    "words found in the data": (("apple", "pear"), False, False),
    "one word among numbers": (("1", "2", "other"), False, False),
    "words that were given": (("pear", "apple"), True, True),
}


@pytest.mark.parametrize(("labels", "given", "wanted"), CASES.values(), ids=CASES)
def test_numbers_and_given_labels_keep_their_order(labels, given, wanted):
    question = Question(name="code", bins=len(labels), labels=labels)
    assert has_own_order(question, labels_given=given) is wanted

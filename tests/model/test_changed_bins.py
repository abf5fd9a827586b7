"""How many counts one person's record can move: what noise in the central model is scaled by."""

import pytest

from mixtally.model.question import Kind, Question, make_attributes_question


@pytest.mark.parametrize(
    ("question", "most"),
    [
        (Question(name="x", bins=2), 2),
        (Question(name="x", bins=10), 2),
        (Question(name="x", bins=10, kind=Kind.SET, max_set=3), 6),
        (Question(name="x", bins=5, kind=Kind.SET, max_set=3), 5),
        (make_attributes_question("x", (4, 5)), 4),
        (Question(name="x", bins=1, kind=Kind.BITS), 1),
        (Question(name="x", bins=7, kind=Kind.BITS), 7),
    ],
)
def test_a_replaced_record_leaves_its_bins_and_enters_as_many(question, most):
    assert question.most_changed == most

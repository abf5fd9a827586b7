"""``example``: answers of people who do not exist, and the labels that they chose from."""

from typing import NamedTuple

from mixtally.api import checks
from mixtally.lab.data.example_data import LABELS, people


class Example(NamedTuple):
    """A column of the example survey.

    where
      values   one answer a person; under "likes" a list of labels
      labels   all that could be answered, in their order
    """

    values: list[str] | list[list[str]]
    labels: list[str]


@checks.translate_errors
def example(column: str = "fruit") -> Example:
    """2,000 answers of the example survey, with their labels; nobody was asked.

    where
      column   "fruit", "answer" or "age_group", one label a person; "likes", a set of labels

    Raises ParameterError for another column.

    >>> answers, labels = mixtally.example("answer")
    >>> len(answers), labels
    (2000, ['yes', 'no', 'unsure'])
    >>> answers.count("yes")
    987
    """
    name = checks.check_choice("column", column, [*LABELS])
    cells = [person[name] for person in people()]
    labels = [*LABELS[name]]
    if name == "likes":
        return Example([cell.split(";") for cell in cells], labels)
    return Example(cells, labels)

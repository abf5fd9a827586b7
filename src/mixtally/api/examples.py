"""An example survey of invented people, with its labels."""

from typing import NamedTuple

from mixtally.api import checks
from mixtally.lab.data.example_data import LABELS, people


class Example(NamedTuple):
    """One column of the example survey.

    Parameters
    ----------
    values : list of str or list of list of str
        One answer per person. For the column "likes", a list of labels per person.
    labels : list of str
        All possible answers, in order.

    Examples
    --------
    >>> import mixtally
    >>> answers, labels = mixtally.example("likes")
    >>> len(answers)
    2000
    """

    values: list[str] | list[list[str]]
    labels: list[str]


@checks.translate_errors
def example(column: str = "fruit") -> Example:
    """Return 2,000 answers of the example survey with their labels. The people are invented.

    Parameters
    ----------
    column : str
        "fruit", "answer" or "age_group" for one label per person, or "likes" for a set of labels.

    Returns
    -------
    Example
        The answers and all possible labels.

    Raises
    ------
    ParameterError
        If there is no such column.

    Examples
    --------
    >>> import mixtally
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

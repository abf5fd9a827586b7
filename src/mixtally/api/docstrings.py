"""Docstrings of functions that accept the options of a command.

An option is described once, by its help text on the command line. The functions of this package
accept options as keyword arguments, and their docstrings get an entry for each option from the help
text. So ``help()``, editors and the site show every parameter with its type, default and range.
"""

import re
from collections.abc import Callable, Mapping
from inspect import Parameter, Signature, cleandoc
from textwrap import fill
from typing import Any, get_args

from mixtally.app.options import Option

_TITLE = "Parameters\n----------\n"
_INDENT = " " * 4
_WIDTH = 96
"""Characters of a line; 100 with the indentation that ``help`` adds."""

PYTHON_TEXTS = {
    "background": ("str", '"zero" if all other people are known to have zeros. Needs ``bits``.'),
    "candidates": ("sequence of str", "The words to count in an open domain."),
    "compare": (
        "sequence of str",
        "Two or more labels. The difference of every two of their counts is also estimated.",
    ),
    "counts_only": (
        "bool",
        "Whether to draw the tallies in place of all messages. The distribution is the same, and "
        "the computation is much faster.",
    ),
    "error_at": (
        "float",
        "The number of people in the bin whose error is minimized: 0, a number, or below 1 a share "
        "of all people. The default is the square root of all.",
    ),
    "fakes_per_user": (
        "float",
        "The largest average number of fakes (dummy messages) that a person sends, 0 to 999.",
    ),
    "no_project": ("bool", "Whether to keep raw counts, which may not add up to the people."),
    "observer": (
        "str",
        'What the adversary sees: "messages", or only the "sums" of all messages.',
    ),
    "ones": ("int", "The number of other people who are known to have a one, below ``users``."),
    "prefixes": ("int", "Search for words by at most this number of prefixes per round."),
    "project": ("str", 'With "simplex", also report counts that add up to the people.'),
    "total": (
        "Mapping of str to sequence of str",
        "The labels of each group, by the name of the group. Their counts are also added up.",
    ),
}
"""The type and the text of options whose help texts do not suit Python.

Such help texts describe a file or a list of texts, or name a placeholder.
"""


def document_options(
    text: str,
    signature: Signature,
    options: Mapping[str, Parameter],
    translate: Callable[[str], str],
) -> str:
    """Return a docstring whose Parameters section follows the signature and has every parameter.

    Entries that are written by hand stay as they are, and the entry ``**options`` is replaced.
    Other entries come from ``PYTHON_TEXTS`` or, if the name is not there, from the help text.

    Parameters
    ----------
    text : str
        The docstring as it is written, with the indentation of the source or without it.
    signature : Signature
        The parameters of the function, with all options.
    options : Mapping of str to Parameter
        The options by name, with their help texts in the annotations.
    translate : callable
        Replaces the names of options in a help text by the names of arguments.

    Returns
    -------
    str
        The complete docstring, without indentation. If ``text`` has no Parameters section, it is
        returned unchanged.
    """
    # Python 3.13 removes the indentation of docstrings, and older versions keep it.
    head, title, rest = cleandoc(text).partition(_TITLE)
    section, end, after = rest.partition("\n\nR")  # the section Returns or Raises follows
    if not options or not title or not end:
        return text
    by_hand: dict[str, str] = {}
    for entry in re.split(r"\n(?=\S)", section):
        for name in entry.partition(" : ")[0].split(", "):
            by_hand[name] = entry
    entries: dict[str, None] = {}  # ordered, without repetition: one entry may describe two
    for name, parameter in signature.parameters.items():
        if name in by_hand:
            entries[by_hand[name]] = None
        elif name in options:
            entries[_entry(parameter, options[name].annotation, translate)] = None
    return head + title + "\n".join(entries) + end + after + "\n"


def _entry(parameter: Parameter, annotation: Any, translate: Callable[[str], str]) -> str:
    """Return the numpydoc entry of an option: its name, type, default value and help text."""
    usual = ", optional" if parameter.default is None else f", default {parameter.default!r}"
    if parameter.default is Parameter.empty:
        usual = ""
    if parameter.name in PYTHON_TEXTS:
        kind, text = PYTHON_TEXTS[parameter.name]
    else:
        of_option = [one.text for one in get_args(annotation) if isinstance(one, Option)]
        by_hand = [one for one in get_args(annotation) if isinstance(one, str)]
        *kinds, text = by_hand or [" ".join(of_option)]
        kind, text = "".join(kinds) or _type_name(parameter.annotation), translate(text)
    body = fill(_capitalize(text), _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT)
    return f"{parameter.name} : {kind}{usual}\n{body}"


def _capitalize(text: str) -> str:
    """Return a help text with a beginning that suits a sentence, usually a capital letter.

    A text can begin with a value of the option, which must not be capitalized. A value before a
    colon is quoted. A list of values with commas is preceded by "One of".
    """
    first = text.partition(" ")[0]
    if first.endswith(":"):
        return f'"{first[:-1]}"{text[len(first) - 1 :]}'
    return f"One of {text}" if first.endswith(",") else text[:1].upper() + text[1:]


def _type_name(hint: Any) -> str:
    """Return the name of a type as numpydoc writes it."""
    inside = [one for one in get_args(hint) if one not in (type(None), ...)]
    if not inside:
        return "object" if hint is Any else str(getattr(hint, "__name__", hint))
    if type(None) in get_args(hint):
        return _type_name(inside[0])
    return f"{hint.__origin__.__name__} of {_type_name(inside[0])}"

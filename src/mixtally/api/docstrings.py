"""Docstrings of functions that accept the options of a command.

An option is described once, by the help text of the command line. The functions of this package
that accept options as keywords get an entry for each of them. So ``help()``, editors and the site
show every parameter with its type, its default value and its range.
"""

import re
from collections.abc import Callable, Mapping
from inspect import Parameter, Signature
from textwrap import fill
from typing import Any, get_args

from mixtally.app.options import Option

_TITLE = "    Parameters\n    ----------\n"
_INDENT = " " * 8


def document_options(
    text: str,
    signature: Signature,
    options: Mapping[str, Parameter],
    translate: Callable[[str], str],
) -> str:
    """Return a docstring whose Parameters section follows the signature and has every parameter.

    Entries that are written by hand stay as they are, and the entry ``**options`` is replaced.

    Parameters
    ----------
    text : str
        The docstring as it is written.
    signature : Signature
        The parameters of the function, with all options.
    options : Mapping of str to Parameter
        The options by name, with their help texts in the annotations.
    translate : callable
        Replaces the names of options in a help text by the names of arguments.
    """
    head, title, rest = text.partition(_TITLE)
    section, end, after = rest.partition("\n\n    R")  # Returns or Raises
    if not options or not title or not end:
        return text
    by_hand: dict[str, str] = {}
    for entry in re.split(r"\n(?=    \S)", section):
        for name in entry.strip().partition(" : ")[0].split(", "):
            by_hand[name] = entry
    entries: dict[str, None] = {}  # one entry may describe two parameters
    for name, parameter in signature.parameters.items():
        if name in by_hand:
            entries[by_hand[name]] = None
        elif name in options:
            entries[_entry(parameter, options[name].annotation, translate)] = None
    return head + title + "\n".join(entries) + end + after


def _entry(parameter: Parameter, annotation: Any, translate: Callable[[str], str]) -> str:
    """Return the numpydoc entry of an option: its name, type, default value and help text."""
    texts = [one.text for one in get_args(annotation) if isinstance(one, Option)]
    texts += [one for one in get_args(annotation) if isinstance(one, str)]
    usual = ", optional" if parameter.default is None else f", default {parameter.default!r}"
    if parameter.default is Parameter.empty:
        usual = ""
    text = translate(" ".join(texts))
    body = fill(text[:1].upper() + text[1:], 100, initial_indent=_INDENT, subsequent_indent=_INDENT)
    return f"    {parameter.name} : {_type_name(parameter.annotation)}{usual}\n{body}"


def _type_name(hint: Any) -> str:
    """Return the name of a type as numpydoc writes it."""
    inside = [one for one in get_args(hint) if one not in (type(None), ...)]
    if not inside:
        return "object" if hint is Any else str(getattr(hint, "__name__", hint))
    if type(None) in get_args(hint):
        return _type_name(inside[0])
    return f"{hint.__origin__.__name__} of {_type_name(inside[0])}"

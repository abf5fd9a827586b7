"""Docstrings of the public names: complete by the numpydoc standard, with examples that run."""

import doctest
import functools
import inspect

import pytest
from numpydoc.validate import validate

import mixtally

IGNORED = {
    "SA01",  # See Also: the site lists related names
    "ES01",  # an extended summary: not every name needs more than its first line
}
OF_METHODS = {"EX01"}  # examples of a method are often those of its class


def planted(numbers):
    """Adds up numbers"""


def is_documented(what):
    """Return whether a member of a class has a docstring of its own; fields do not."""
    return inspect.isroutine(what) or isinstance(what, property | classmethod | staticmethod)


def names():
    """Return every exported name, and the public methods and properties of the classes."""
    found = []
    for name in mixtally.__all__:
        found.append(f"mixtally.{name}")
        kind = getattr(mixtally, name)
        for base in getattr(kind, "__mro__", ()):
            if base.__module__.startswith("mixtally"):
                found += [
                    f"mixtally.{name}.{one}"
                    for one, what in vars(base).items()
                    if not one.startswith("_") and is_documented(what)
                ]
    return sorted(set(found))


def findings(name):
    """Return what the validator finds in the docstring of a name."""
    is_method = name.startswith("mixtally.") and name.count(".") > 1
    ignored = IGNORED | (OF_METHODS if is_method else set())
    return [(code, text) for code, text in validate(name)["errors"] if code not in ignored]


def object_of(name):
    """Return the object of a name."""
    return functools.reduce(getattr, name.split(".")[1:], mixtally)


def examples(name):
    """Return the examples of a docstring, as a test."""
    text = inspect.getdoc(object_of(name)) or ""
    return doctest.DocTestParser().get_doctest(text, {}, name, None, None)


@pytest.mark.parametrize("name", names())
def test_every_public_docstring_is_complete(name):
    assert findings(name) == []


def test_a_poor_docstring_is_found(monkeypatch):
    """Planted: a function whose docstring has no sections and whose summary has no period."""
    monkeypatch.setattr(mixtally, "delta", planted)
    assert {"SS03", "SS05", "PR01", "EX01"} <= {code for code, _ in findings("mixtally.delta")}


@pytest.mark.parametrize("name", [one for one in names() if examples(one).examples])
def test_every_example_gives_the_printed_output(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    report = []
    failed, tried = doctest.DocTestRunner(verbose=False).run(examples(name), out=report.append)
    assert (failed, tried > 0) == (0, True), "".join(report)


def test_an_example_with_another_output_fails():
    """Planted: the output is not what Python prints."""
    wrong = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "planted", None, None)
    assert doctest.DocTestRunner(verbose=False).run(wrong, out=lambda _: None).failed == 1


@pytest.mark.parametrize("name", mixtally.__all__)
def test_every_argument_is_described(name):
    """Options of the command line become entries, so no placeholder is left."""
    text = inspect.getdoc(getattr(mixtally, name))
    assert "\n**" not in text

"""A minimal writer of SVG and HTML: elements with escaped text and attributes."""

from html import escape


class Markup(str):
    """Text that is markup already and must not be escaped again."""

    __slots__ = ()


NO_FORMULAS = "tex2jax_ignore mathjax_ignore"
"""CSS classes that keep a notebook from reading text between dollar signs as a formula."""


def el(name: str, *children: str | float, **attributes: str | float) -> Markup:
    """Return ``<name attributes>children</name>`` with plain strings escaped.

    In names of attributes an underscore becomes a hyphen, and ``class_`` becomes class.
    """
    inner = "".join(c if isinstance(c, Markup) else escape(str(c)) for c in children)
    shown = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_text(value))}"'
        for key, value in attributes.items()
    )
    return Markup(f"<{name}{shown}>{inner}</{name}>")


def _text(value: str | float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def join(parts: list[Markup]) -> Markup:
    """Concatenate parts."""
    return Markup("".join(parts))

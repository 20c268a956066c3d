"""Docstrings speak reStructuredText where they name things and formulas; pages are Markdown."""

import re
from typing import Any

import griffe

FORMULA = re.compile(r"^(?P<indent> *)\.\. math:: ?(?P<latex>.*(?:\n(?P=indent) +\S.*)*)", re.M)
INLINE = re.compile(r":math:`([^`]+)`")
NAME = re.compile(r":(?:func|class|meth|mod|attr|data):`~?([^`]+)`")


class Roles(griffe.Extension):
    """Turn the roles and formulas of docstrings into Markdown."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of an object that was read."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(text: str) -> str:
    r"""Return a docstring with its formulas in \[ … \] and its names as code.

    Examples
    --------
    >>> as_markdown("see :func:`gpgc.load` and :math:`x^2`")
    'see `gpgc.load` and \\(x^2\\)'
    """
    text = FORMULA.sub(r"\g<indent>\\[ \g<latex> \\]", text)
    return NAME.sub(r"`\1`", INLINE.sub(r"\\(\1\\)", text))

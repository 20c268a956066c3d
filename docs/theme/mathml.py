"""Formulas as MathML, written when the site is built, so that no page needs a script for them."""

import html
import re
from typing import Any

from latex2mathml.converter import convert

FORMULA = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\\(?:\(|\[)(?P<latex>.*?)\\(?:\)|\])</(?P=tag)>',
    re.DOTALL,
)


def on_page_content(content: str, **_: Any) -> str:
    r"""Replace \( … \) and \[ … \], as ``pymdownx.arithmatex`` leaves them, by MathML."""
    return FORMULA.sub(_converted, content)


def _converted(match: re.Match[str]) -> str:
    display = "block" if match["tag"] == "div" else "inline"
    return convert(html.unescape(match["latex"]), display=display)

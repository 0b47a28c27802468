"""Hooks of the documentation's build: formulas become MathML, so that pages need no script.

``pymdownx.arithmatex`` marks the formulas of a page; this module replaces them by what
latex2mathml makes of them. It also rewrites links to files of the repository outside ``docs``.
"""

from __future__ import annotations

import html
import re

from latex2mathml.converter import convert

_FORMULA = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\\[(\[](?P<tex>.*?)\\[)\]]</(?P=tag)>', re.DOTALL
)


def on_page_content(content: str, **_: object) -> str:
    """Replace the formulas of a page by MathML.

    Parameters
    ----------
    content : str
        The page's HTML, made from Markdown.
    **_ : object
        The page and the site, which are not used.
    """
    return _FORMULA.sub(_mathml, content)


def _mathml(match: re.Match[str]) -> str:
    display = "block" if match["tag"] == "div" else "inline"
    formula = convert(html.unescape(match["tex"]).strip(), display=display)
    if display == "inline":
        return formula
    return f'<div class="formula">{formula}</div>'

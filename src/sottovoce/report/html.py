"""A page of one file: elements that escape their content, and the frame around them.

The page has no script and fetches nothing; a content security policy says so to the browser.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from functools import cache
from html import escape
from importlib.resources import files

_VOID = ("meta", "br", "wbr")
"""Elements that have no end tag."""


class Markup(str):
    """Text that is HTML already; all other text is escaped."""

    __slots__ = ()


Content = str | int | float | None
"""What an element may hold: markup as it is, text and numbers escaped, None for nothing."""
Attribute = str | int | float | bool | None
"""The value of an attribute; True for an attribute without a value, None or False for none."""


def element(name: str, /, *content: Content, **attributes: Attribute) -> Markup:
    """Build an element.

    Parameters
    ----------
    name : str
        Its tag.
    *content : str, int, float or None
        Its content; text is escaped, :class:`Markup` is not.
    **attributes : str, int, float, bool or None
        Its attributes. A trailing ``_`` is dropped (``class_``), others become ``-``.

    Examples
    --------
    >>> element("p", "1 < 2, ", element("b", "really"), class_="law")
    '<p class="law">1 &lt; 2, <b>really</b></p>'
    """
    start = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Markup(f"<{name}{start}>")
    return Markup(f"<{name}{start}>{joined(content)}</{name}>")


def _attribute(key: str, value: Attribute) -> str:
    name = key.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'


def joined(content: Iterable[Content]) -> Markup:
    """Concatenate parts of a page.

    Parameters
    ----------
    content : iterable of str, int, float or None
        None is left out, text that is not :class:`Markup` is escaped.
    """
    return Markup(
        "".join(
            part if isinstance(part, Markup) else escape(str(part))
            for part in content
            if part is not None
        )
    )


def breakable(name: str) -> Markup:
    """Let a long name be broken after brackets, commas and equals signs.

    Parameters
    ----------
    name : str
        Such as the name of an anonymiser with its settings.
    """
    parts = re.split(r"(?<=[(,=])", name)
    return joined([parts[0], *(joined([element("wbr"), part]) for part in parts[1:])])


def bullets(lines: Iterable[Content], class_: str | None = None) -> Markup | None:
    """Build a list, or nothing where there are no lines.

    Parameters
    ----------
    lines : iterable of str
        One item each.
    class_ : str, optional
        Class of the list.
    """
    items = [element("li", line) for line in lines]
    return element("ul", *items, class_=class_) if items else None


def folded(
    summary: Content, *content: Content, is_open: bool = False, class_: str | None = None
) -> Markup:
    """Build a part that opens when its heading is pressed.

    Parameters
    ----------
    summary : str
        The heading.
    *content : str or None
        The part.
    is_open : bool, default False
        Whether it is open at first.
    class_ : str, optional
        Class of the element.
    """
    heading = element("summary", summary)
    return element("details", heading, *content, open=is_open, class_=class_)


def scrolling(label: str, *content: Content) -> Markup:
    """Wrap something that may be wider than the screen: it scrolls, with the keyboard too.

    Parameters
    ----------
    label : str
        Its name for those who do not see it.
    *content : str or None
        The table or drawing.
    """
    return element("div", *content, class_="wide", tabindex="0", role="group", aria_label=label)


def mark(text: str, kind: str = "") -> Markup:
    """Build a short remark that stands out.

    Parameters
    ----------
    text : str
        The remark.
    kind : str, optional
        ``good``, ``doubt`` or ``bad``, which sets its colour.
    """
    return element("span", text, class_=f"mark {kind}".strip())


@cache
def _stylesheet() -> str:
    return files("sottovoce.report").joinpath("page.css").read_text(encoding="utf-8")


@cache
def style_source() -> str:
    """Return the source expression by which a content security policy allows the stylesheet."""
    digest = hashlib.sha256(_stylesheet().encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def document(title: str, *body: Content) -> str:
    """Build the whole page.

    Parameters
    ----------
    title : str
        Title of the page.
    *body : str or None
        Header, main part and footer.
    """
    policy = (
        f"default-src 'none'; style-src {style_source()}; media-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        Markup(f"<style>{_stylesheet()}</style>"),
    )
    page = element("html", head, element("body", *body), lang="en")
    return f"<!doctype html>\n{page}\n"

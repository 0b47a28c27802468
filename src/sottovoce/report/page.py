"""A page of one file: elements that escape what they hold, and the frame around them.

No script, nothing fetched, and a content security policy that says so to the browser.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from typing import Any


class Markup(str):
    """Text that is HTML already; all other text is escaped."""

    __slots__ = ()


def element(name: str, /, *content: Any, **attributes: Any) -> Markup:
    """An element; ``class_`` stands for class, ``_`` for ``-``, True for an attribute alone.

    >>> element("p", "1 < 2, ", element("b", "really"), class_="law")
    '<p class="law">1 &lt; 2, <b>really</b></p>'
    """
    given = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in ("meta", "br", "wbr"):
        return Markup(f"<{name}{given}>")
    return Markup(f"<{name}{given}>{joined(content)}</{name}>")


def _attribute(key: str, value: Any) -> str:
    name = key.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'


def joined(content: Iterable[Any]) -> Markup:
    """Parts one after the other; None is nothing, plain text is escaped."""
    return Markup(
        "".join(
            part if isinstance(part, Markup) else escape(str(part))
            for part in content
            if part is not None
        )
    )


def breakable(name: str) -> Markup:
    """A long name that may be broken after brackets, commas and equals signs."""
    parts = re.split(r"(?<=[(,=])", name)
    return joined([parts[0], *(joined([element("wbr"), part]) for part in parts[1:])])


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun.

    >>> counted(1, "person", "people"), counted(1200, "recording")
    ('1 person', '1,200 recordings')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def bullets(lines: Iterable[Any], **attributes: Any) -> Markup | None:
    """A list, or nothing where there are no lines."""
    items = [element("li", line) for line in lines]
    return element("ul", *items, **attributes) if items else None


def folded(summary: Any, *content: Any, shown: bool = False, class_: str | None = None) -> Markup:
    """A part that opens when its heading is pressed."""
    heading = element("summary", summary)
    return element("details", heading, *content, open=shown, class_=class_)


def scrolling(label: str, *content: Any) -> Markup:
    """What may be wider than the screen: it scrolls by itself, with the keyboard too."""
    return element("div", *content, class_="wide", tabindex="0", role="group", aria_label=label)


def table(
    caption: str,
    headings: Sequence[Any],
    rows: Iterable[Sequence[Any]],
    *,
    words: Sequence[int] = (),
    marks: Sequence[str] = (),
) -> Markup:
    """A table whose first column names its rows.

    ``words`` are columns of text instead of numbers, ``marks`` are classes of rows.
    """
    kinds = ["words" if i in (0, *words) else None for i in range(len(headings))]
    head = element(
        "tr",
        *(
            element("th", one, scope="col", class_=kind)
            for one, kind in zip(headings, kinds, strict=True)
        ),
    )
    body = [
        element(
            "tr",
            *(
                element("td" if i else "th", cell, scope=None if i else "row", class_=kinds[i])
                for i, cell in enumerate(row)
            ),
            class_=(marks[n] or None) if n < len(marks) else None,
        )
        for n, row in enumerate(rows)
    ]
    whole = element(
        "table", element("caption", caption), element("thead", head), element("tbody", *body)
    )
    return scrolling(caption, whole)


def figure(svg: str, data: Markup, words: str) -> Markup:
    """A drawing with what it shows, and its numbers folded under it."""
    return element(
        "figure",
        scrolling(_title(svg), Markup(svg)),
        element("figcaption", words),
        folded(f"Numbers: {_title(svg)}", data, class_="data"),
    )


def _title(svg: str) -> Markup:
    """The drawing's own title, which is escaped already."""
    return Markup(svg.partition("<title>")[2].partition("</title>")[0])


def document(title: str, *body: Any) -> str:
    """The whole page."""
    style = files("sottovoce.report").joinpath("page.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; media-src data:; "
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
        Markup(f"<style>{style}</style>"),
    )
    page = element("html", head, element("body", *body), lang="en")
    return f"<!doctype html>\n{page}\n"

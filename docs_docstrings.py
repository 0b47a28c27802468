"""Extension of griffe, which reads the docstrings for the reference pages.

Our docstrings have a little reStructuredText, which mkdocstrings takes for Markdown: roles such as
``:class:`Scores```, ``.. math::`` and doctests outside of a section of examples. This extension
turns them into Markdown.
"""

from __future__ import annotations

import re

import griffe

_ROLE = re.compile(r":(?:class|func|meth|mod|attr|data|exc|obj):`(~?)([^`]+)`")
_MATH = re.compile(r"^\.\. math::[ ]*(?P<first>.*)\n(?P<more>(?:[ ]+\S.*\n|\n(?=[ ]))*)", re.M)


class DocstringsToMarkdown(griffe.Extension):
    """Turns the reStructuredText of all docstrings into Markdown."""

    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        """Convert the docstring of an object that was read.

        Parameters
        ----------
        obj : griffe.Object
            A module, class, function or attribute.
        **_ : object
            The loader, which is not used.
        """
        if obj.docstring is not None:
            obj.docstring.value = to_markdown(obj.docstring.value)


def to_markdown(text: str) -> str:
    """Turn roles, formulas, literal blocks and doctests into Markdown.

    Parameters
    ----------
    text : str
        A docstring without indentation.

    Examples
    --------
    >>> to_markdown("Returns :class:`~sottovoce.measure.Scores`.")
    'Returns `Scores`.'
    """
    text = _MATH.sub(_formula, text + "\n").rstrip("\n")
    text = _ROLE.sub(_code, text)
    text = re.sub(r"::$", ":", text, flags=re.MULTILINE)
    return _fence_doctests(text)


def _code(match: re.Match[str]) -> str:
    name = match[2].lstrip(".")
    return f"`{name.rpartition('.')[2] if match[1] else name}`"


def _formula(match: re.Match[str]) -> str:
    lines = [match["first"], *match["more"].splitlines()]
    return "$$" + " ".join(line.strip() for line in lines if line.strip()) + "$$\n\n"


def _fence_doctests(text: str) -> str:
    """Put doctests outside of sections into fences; after a section, begin one of examples."""
    lines: list[str] = []
    section = ""
    fenced = False
    for line in text.split("\n"):
        if lines and line and set(line) == {"-"}:
            section = lines[-1]
        if line.startswith(">>> ") and not fenced and section != "Examples":
            if section:
                section = "Examples"
                lines += [section, "-" * len(section)]
            else:
                lines.append("```pycon")
                fenced = True
        elif fenced and not line:
            lines.append("```")
            fenced = False
        lines.append(line)
    return "\n".join([*lines, "```"] if fenced else lines)

"""One small registry: names to things, with entry points and "did you mean …".

A package adds its own with an entry point in the registry's group, e.g.

    [project.entry-points."sottovoce.measures"]
    my_measure = "my_package:MY_MEASURE"

Entry points are looked up when a name is asked for, so importing a registry imports nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from importlib.metadata import entry_points
from typing import Generic, TypeVar

from sottovoce.core.errors import UsageError

T = TypeVar("T")


class Registry(Generic[T]):
    """Things of one kind by name.

    >>> colours: Registry[str] = Registry("colour", group="example.colours")
    >>> colours.add("red", "#f00")
    '#f00'
    >>> colours["red"]
    '#f00'
    """

    def __init__(self, kind: str, *, group: str) -> None:
        self.kind = kind
        self.group = group
        self._own: dict[str, T] = {}

    def add(self, name: str, thing: T) -> T:
        """Register ``thing`` under ``name``; a name can be taken once."""
        if name in self._own:
            raise UsageError(f"{self.kind} {name!r} is registered already: choose another name")
        self._own[name] = thing
        return thing

    def __getitem__(self, name: str) -> T:
        if name in self._own:
            return self._own[name]
        for point in entry_points(group=self.group):
            if point.name == name:
                thing: T = point.load()
                return thing
        raise UsageError(did_you_mean(self.kind, name, list(self)), code="unknown-name")

    def __iter__(self) -> Iterator[str]:
        yield from self._own
        yield from (p.name for p in entry_points(group=self.group) if p.name not in self._own)

    def __contains__(self, name: object) -> bool:
        return name in list(self)


def did_you_mean(kind: str, name: str, known: list[str]) -> str:
    """Say that ``name`` is unknown, with the nearest known name or the whole list."""
    near = get_close_matches(name, known, n=1, cutoff=0.6)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(known))}"
    return f"no {kind} is called {name!r}; {hint}"

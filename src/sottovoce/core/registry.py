"""A registry of named objects, such as measures or corpus formats, that other packages extend.

A package adds an object with an entry point in the registry's group, e.g.

    [project.entry-points."sottovoce.measures"]
    my_measure = "my_package:MY_MEASURE"

Entry points are looked up when a name is asked for, so importing a registry imports nothing else,
and once for each ``sys.path``: a package that is installed later is not seen before the next start.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Generic, TypeVar

from sottovoce.core.errors import UsageError

T = TypeVar("T")


def entry_points(group: str) -> tuple[metadata.EntryPoint, ...]:
    """List the entry points of a group in the order of the installed packages.

    Parameters
    ----------
    group : str
        Name of the group.
    """
    return _entry_points(group, tuple(sys.path))


@cache
def _entry_points(group: str, path: tuple[str, ...]) -> tuple[metadata.EntryPoint, ...]:
    # reads a file of every installed package
    return tuple(metadata.entry_points(group=group))


class Registry(Generic[T]):
    """Objects of one kind by name: those of this package, then those of others.

    >>> colours: Registry[str] = Registry("colour", group="example.colours")
    >>> colours.add("red", "#f00")
    '#f00'
    >>> colours["red"]
    '#f00'

    Parameters
    ----------
    kind : str
        What the objects are, for messages.
    group : str
        Group of the entry points of other packages.
    """

    def __init__(self, kind: str, *, group: str) -> None:
        self.kind = kind
        self.group = group
        self._added: dict[str, T] = {}

    def add(self, name: str, item: T) -> T:
        """Register an object and return it.

        Parameters
        ----------
        name : str
            Its name, which must be free.
        item : T
            The object.

        Raises
        ------
        UsageError
            ``exists`` if the name is taken.
        """
        if name in self._added:
            raise UsageError(
                f"{self.kind} {name!r} is registered already: choose another name", code="exists"
            )
        self._added[name] = item
        return item

    def __getitem__(self, name: str) -> T:
        if name in self._added:
            return self._added[name]
        for point in entry_points(group=self.group):
            if point.name == name:
                item: T = point.load()
                return item
        raise UsageError(did_you_mean(self.kind, name, list(self)), code="unknown-name")

    def for_file(self, path: Path) -> T | None:
        """Return the object whose name is the ending of a file name, in capitals or not.

        Parameters
        ----------
        path : Path
            The file. Where several endings fit (``.gz`` and ``.csv.gz``), the longest counts.

        Returns
        -------
        T or None
            None if no name in this registry fits.
        """
        endings = [name for name in self if path.name.lower().endswith(name.lower())]
        return self[max(endings, key=len)] if endings else None

    def __iter__(self) -> Iterator[str]:
        yield from self._added
        yield from (p.name for p in entry_points(group=self.group) if p.name not in self._added)

    def __contains__(self, name: object) -> bool:
        return name in list(self)


_NUMBER = r"-?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?"
_NUMBERS = re.compile(rf"{_NUMBER}(_{_NUMBER})*")


class FamilyRegistry(Registry[T]):
    """A registry that also has families of objects whose names end in numbers, joined by ``_``.

    >>> powers: FamilyRegistry[float] = FamilyRegistry("power", group="example.powers")
    >>> powers.add_family("power", lambda base, exponent=2: base**exponent)
    >>> powers["power_3"], powers["power_3_1"]
    (9.0, 3.0)

    Parameters
    ----------
    kind : str
        What the objects are, for messages.
    group : str
        Group of the entry points of other packages.
    """

    def __init__(self, kind: str, *, group: str) -> None:
        super().__init__(kind, group=group)
        self._families: dict[str, Callable[..., T]] = {}

    def add_family(self, name: str, make: Callable[..., T]) -> None:
        """Register a family of objects.

        Parameters
        ----------
        name : str
            What the names of its members start with.
        make : callable
            Makes a member from the numbers in its name.
        """
        self._families[name] = make

    def member(self, family: str, *numbers: float) -> T:
        """Return a member of a family.

        Parameters
        ----------
        family : str
            Name of the family.
        *numbers : float
            What its members differ in.
        """
        return self._families[family](*numbers)

    def __getitem__(self, name: str) -> T:
        member = None if name in self._added else self._named_member(name)
        return super().__getitem__(name) if member is None else member

    def __contains__(self, name: object) -> bool:
        if super().__contains__(name):
            return True
        return isinstance(name, str) and self._named_member(name) is not None

    def _named_member(self, name: str) -> T | None:
        for family, make in self._families.items():
            numbers = name.removeprefix(f"{family}_")
            if numbers != name and _NUMBERS.fullmatch(numbers):
                try:
                    return make(*map(float, numbers.split("_")))
                except TypeError:  # more numbers than this family has
                    return None
        return None


def did_you_mean(kind: str, name: str, known: list[str]) -> str:
    """Return the message that a name is unknown, with the nearest known one or the whole list.

    Parameters
    ----------
    kind : str
        What is named, such as ``measure``.
    name : str
        The unknown name.
    known : list of str
        All names.
    """
    near = get_close_matches(name, known, n=1, cutoff=0.6)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(known))}"
    return f"no {kind} is called {name!r}; {hint}"

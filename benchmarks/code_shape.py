"""How readable the code is, in numbers: one table for a tree, or two trees side by side.

    uv run python benchmarks/code_shape.py                     this tree
    uv run python benchmarks/code_shape.py OTHER_TREE          that tree before, this one after
    uv run python benchmarks/code_shape.py --package measure   one package of this tree
    uv run python benchmarks/code_shape.py --list              name what counts against the goals

What is counted:

* ``Any`` per thousand lines: uses of the name ``Any`` in annotations and expressions.
* vague bindings: variables, parameters and loop targets called one, own, found, told, made, asked
  or such, as a share of all bindings of names.
* documented parameters: public functions and methods (no leading underscore, in public classes)
  that take parameters and have a numpydoc ``Parameters`` section. Left out are nested functions,
  properties, and commands and routes of the service, which ``--help`` and OpenAPI document.
* complexity: McCabe's, one more than the number of branches.
* single importers: modules that exactly one other module of the package imports, directly or by a
  name that their package re-exports.
"""

from __future__ import annotations

import argparse
import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

VAGUE = frozenset({"one", "own", "found", "told", "made", "asked", "such"})
BRANCHES = (
    ast.If,
    ast.For,
    ast.While,
    ast.ExceptHandler,
    ast.IfExp,
    ast.comprehension,
    ast.Assert,
    ast.match_case,
)
DOCUMENTED_ELSEWHERE = ("command", "group", "get", "post", "put", "delete", "property", "overload")
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Shape:
    """Counts of one tree."""

    files: int = 0
    lines: int = 0
    any_uses: int = 0
    bindings: int = 0
    vague: list[str] = field(default_factory=list)
    documented: int = 0
    undocumented: list[str] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    complexities: list[int] = field(default_factory=list)
    single_importers: list[str] = field(default_factory=list)
    matches: int = 0

    def rows(self) -> list[tuple[str, str]]:
        """Name and value of every figure, for the table."""
        public = self.documented + len(self.undocumented)
        return [
            ("files", f"{self.files:,}"),
            ("lines", f"{self.lines:,}"),
            ("Any per 1,000 lines", f"{1000 * self.any_uses / max(1, self.lines):.2f}"),
            ("vague bindings", f"{100 * len(self.vague) / max(1, self.bindings):.2f} %"),
            ("documented parameters", f"{100 * self.documented / max(1, public):.1f} %"),
            ("  of public functions", f"{public:,}"),
            ("function length, 90th percentile", f"{_percentile(self.lengths, 0.9)}"),
            ("complexity, 90th percentile", f"{_percentile(self.complexities, 0.9)}"),
            ("modules with a single importer", f"{len(self.single_importers)}"),
            ("match= in tests", f"{self.matches}"),
        ]


def measure_tree(root: Path, package: str = "") -> Shape:
    """Count a tree that has ``src/sottovoce``, or one package of it."""
    source = root / "src" / "sottovoce"
    shape = Shape()
    for path in sorted((source / package.replace(".", "/")).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        where = str(path.relative_to(source))
        shape.files += 1
        shape.lines += len(text.splitlines())
        shape.any_uses += sum(
            isinstance(node, ast.Name) and node.id == "Any" for node in ast.walk(tree)
        )
        for name, line in _bindings(tree):
            shape.bindings += 1
            if name in VAGUE:
                shape.vague.append(f"{where}:{line} {name}")
        for function, name, counted in _functions(tree):
            shape.lengths.append(_code_lines(function))
            shape.complexities.append(_complexity(function))
            if counted:
                if "Parameters\n" in (ast.get_docstring(function) or ""):
                    shape.documented += 1
                else:
                    shape.undocumented.append(f"{where}:{function.lineno} {name}")
    shape.single_importers = [
        f"{name} <- {users[0]}" for name, users in _importers(source).items() if len(users) == 1
    ]
    tests = root / "tests"
    shape.matches = sum(path.read_text().count("match=") for path in tests.rglob("*.py"))
    return shape


def _bindings(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno


def _functions(
    tree: ast.AST, *, public: bool = True, prefix: str = ""
) -> Iterator[tuple[Function, str, bool]]:
    """Every function, its name, and whether its parameters should be documented."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            visible = public and not node.name.startswith("_")
            yield from _functions(node, public=visible, prefix=f"{prefix}{node.name}.")
        elif isinstance(node, Function):
            visible = public and not node.name.startswith("_") and _takes_parameters(node)
            visible = visible and not any(
                _decorator(d) in DOCUMENTED_ELSEWHERE for d in node.decorator_list
            )
            yield node, f"{prefix}{node.name}", visible
            for inner, name, _ in _functions(node, public=False, prefix=f"{prefix}{node.name}."):
                yield inner, name, False
        elif isinstance(node, ast.If | ast.Try):
            yield from _functions(node, public=public, prefix=prefix)


def _takes_parameters(function: Function) -> bool:
    arguments = function.args
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return bool([name for name in names if name not in ("self", "cls")])


def _decorator(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _code_lines(function: Function) -> int:
    """Lines of a function without its docstring."""
    body = function.body
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        docstring = (body[0].end_lineno or 0) - body[0].lineno + 1
    else:
        docstring = 0
    return (function.end_lineno or 0) - function.lineno + 1 - docstring


def _complexity(function: Function) -> int:
    branches = sum(isinstance(node, BRANCHES) for node in ast.walk(function))
    joined = sum(len(n.values) - 1 for n in ast.walk(function) if isinstance(n, ast.BoolOp))
    return 1 + branches + joined


def _importers(source: Path) -> dict[str, list[str]]:
    """The modules of a package, each with the modules that import it.

    A name that a package re-exports counts as an import of the module that defines it.
    """
    modules = {_module(path, source): path for path in source.rglob("*.py")}
    trees = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in modules.items()}
    defined_in = {
        f"{name}.{alias.asname or alias.name}": node.module
        for name, tree in trees.items()
        if modules[name].name == "__init__.py"
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module in modules
        for alias in node.names
    }
    users: dict[str, set[str]] = defaultdict(set)
    for name, tree in trees.items():
        for node in ast.walk(tree):
            for target in _targets(node):
                target = defined_in.get(target, target)
                if target in modules and target != name:
                    users[target].add(name)
    plain = (name for name, path in modules.items() if path.name != "__init__.py")
    return {name: sorted(users[name]) for name in sorted(plain)}


def _targets(node: ast.AST) -> Iterator[str]:
    """Every module or name that an import statement may mean."""
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield node.module
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)


def _module(path: Path, source: Path) -> str:
    parts = list(path.relative_to(source.parent).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _percentile(values: list[int], share: float) -> int:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("before", nargs="?", type=Path, help="another tree, shown first")
    parser.add_argument("--package", default="", help="only this package, such as measure")
    parser.add_argument("--list", action="store_true", help="name what counts against the goals")
    options = parser.parse_args()
    here = Path(__file__).resolve().parents[1]
    after = measure_tree(here, options.package)
    columns = [after.rows()]
    if options.before:
        columns.insert(0, measure_tree(options.before, options.package).rows())
    for cells in zip(*columns, strict=True):
        print(f"{cells[0][0]:34}", *(f"{value:>10}" for _, value in cells))
    if options.list:
        for line in (*after.vague, *after.undocumented, *after.single_importers):
            print(line)


if __name__ == "__main__":
    main()

"""The imports between pyhudi's modules, read from the source without importing anything.

Function-local imports and those under `TYPE_CHECKING` count too: they bind two modules just as much. The order of the
layers has one home, the import-linter contract in pyproject.toml.
"""

from __future__ import annotations

import ast
import functools
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
PACKAGE = "pyhudi"


@functools.cache
def modules() -> dict[str, Path]:
    """Every module of the package by its dotted name."""
    result = {}
    for path in sorted((SOURCE / PACKAGE).rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        result[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return result


@functools.cache
def syntax(module: str) -> ast.Module:
    """The syntax tree of a module."""
    return ast.parse(modules()[module].read_text(encoding="utf-8"))


def imported_names(module: str) -> Iterator[tuple[str, ast.stmt]]:
    """Dotted names that a module imports, its own package's and others', with the statement that does it.

    `from a import b` gives `a.b`, which may be a module or a name within `a`.
    """
    for node in ast.walk(syntax(module)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node
        elif isinstance(node, ast.ImportFrom):
            origin = _absolute(module, node)
            for alias in node.names:
                yield f"{origin}.{alias.name}", node


def _absolute(module: str, node: ast.ImportFrom) -> str:
    if node.level == 0:
        return node.module or ""
    package = module.split(".")
    # In an __init__ one dot is the package itself, elsewhere it is the parent of the module.
    up = node.level - 1 if modules()[module].name == "__init__.py" else node.level
    base = package[: len(package) - up]
    return ".".join([*base, node.module] if node.module else base)


@functools.cache
def graph() -> dict[str, frozenset[str]]:
    """For every module, the modules of the package that it imports."""
    known = modules()
    edges: dict[str, set[str]] = {module: set() for module in known}
    for module in known:
        for name, _ in imported_names(module):
            target = name if name in known else name.rpartition(".")[0]
            if target in known and target != module:
                edges[module].add(target)
    return {module: frozenset(targets) for module, targets in edges.items()}


def layers() -> list[list[str]]:
    """Packages by layer, the highest first; packages of one layer do not know each other."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    stated = next(contract["layers"] for contract in contracts if contract["id"] == "layers")
    return [re.findall(r"\w+", layer) for layer in stated]


def package_of(module: str) -> str:
    """The layer's package of a module: `spec` for `pyhudi.spec.actions.commit`, `""` for the root."""
    return module.split(".")[1] if "." in module else ""


def package_edges() -> set[tuple[str, str]]:
    """Pairs of packages of which the first imports the second."""
    edges = {(package_of(module), package_of(target)) for module, targets in graph().items() for target in targets}
    return {(source, target) for source, target in edges if source != target}


def cycles() -> list[list[str]]:
    """Groups of modules that import each other, directly or around corners (Tarjan's strongly connected components)."""
    edges = graph()
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    result: list[list[str]] = []

    def visit(module: str) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for target in sorted(edges[module]):
            if target not in index:
                visit(target)
                low[module] = min(low[module], low[target])
            elif target in stack:
                low[module] = min(low[module], index[target])
        if low[module] == index[module]:
            start = stack.index(module)
            if len(group := stack[start:]) > 1:
                result.append(sorted(group))
            del stack[start:]

    for module in edges:
        if module not in index:
            visit(module)
    return result

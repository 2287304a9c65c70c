"""Every public definition says what it is: modules (test_sizes.py), classes, functions, methods and properties."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from scripts.import_graph import SOURCE

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def undocumented(body: list[ast.stmt], prefix: str = "") -> Iterator[str]:
    """Names of public definitions without a docstring; what is inside a function or a private class is not public."""
    for node in body:
        if isinstance(node, ast.If | ast.Try):
            inner = [child for child in ast.walk(node) if isinstance(child, ast.stmt) and child is not node]
            yield from undocumented([child for child in inner if isinstance(child, DEFINITIONS)], prefix)
        if not isinstance(node, DEFINITIONS) or node.name.startswith("_"):
            continue
        if not ast.get_docstring(node):
            yield prefix + node.name
        if isinstance(node, ast.ClassDef):
            yield from undocumented(node.body, f"{prefix}{node.name}.")


def test_every_public_definition_has_a_docstring() -> None:
    files = sorted(SOURCE.rglob("*.py"))
    strings = {file.relative_to(SOURCE): file.read_text(encoding="utf-8") for file in files}
    assert [f"{file}: {name}" for file, text in strings.items() for name in undocumented(ast.parse(text).body)] == []


def test_a_definition_without_docstring_is_noticed() -> None:
    methods = "class A:\n    def f(self): ...\n    def _g(self): ...\nclass _B:\n    def f(self): ...\n"
    functions = "if A:\n    def h(): ...\ndef k():\n    'Text.'\n"
    assert list(undocumented(ast.parse(methods + functions).body)) == ["A", "A.f", "h"]

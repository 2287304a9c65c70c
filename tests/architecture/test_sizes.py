"""Files and functions stay small enough to hold in mind, and every module says what it is for."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path

import pytest

from scripts.import_graph import ROOT, modules, syntax

AIM_LINES = 400
MOST_LINES = 500
MOST_FUNCTION_LINES = 70


def lengths(folder: str) -> dict[str, int]:
    """Lines of each Python file, by its path in the repository."""
    return {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in (ROOT / folder).rglob("*.py")}


@pytest.mark.parametrize("folder", ["src", "tests", "scripts", "bench"])
@pytest.mark.filterwarnings("default:think again")
def test_no_file_is_longer_than_the_limit(folder: str) -> None:
    counted = lengths(folder)
    for path, count in counted.items():
        if AIM_LINES < count <= MOST_LINES:
            warnings.warn(f"think again: {path} has {count} lines", stacklevel=1)
    assert {path: count for path, count in counted.items() if count > MOST_LINES} == {}


def test_no_function_is_longer_than_a_screen() -> None:
    long = {}
    for module in modules():
        for node in ast.walk(syntax(module)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > MOST_FUNCTION_LINES:
                    long[f"{module}.{node.name}"] = lines
    assert long == {}


def test_every_module_says_what_it_is_for() -> None:
    silent = [module for module in modules() if not ast.get_docstring(syntax(module))]
    assert silent == []


def test_packages_only_hand_names_on() -> None:
    busy = []
    for module, path in modules().items():
        # The root is lazy, so that `import pyhudi` stays light: it has a `__getattr__`.
        if path.name == "__init__.py" and path.parent != Path(ROOT, "src", "pyhudi"):
            definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
            busy += [module for node in syntax(module).body if isinstance(node, definitions)]
    assert busy == []

"""Imports go down the layers, in no circle, and heavy libraries stay where they belong.

A second opinion beside import-linter (`make lint`), from our own reading of the source.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable

import pytest

from scripts import draw_layers
from scripts.import_graph import ROOT, cycles, graph, imported_names, layers, modules, package_of, syntax

# From `schema`, `keygen`, `merge` and `kernels` up: what is below defines the format and must run without Arrow.
WITHOUT_ARROW = {"errors", "spec", "codec", "storage", "timeline", "fsview"}


def may_use_spark(module: str) -> bool:
    return package_of(module) in {"spark", "sql", "examples"} or module.startswith("pyhudi.engine.spark")


def may_use_arrow(module: str) -> bool:
    return package_of(module) not in WITHOUT_ARROW


def test_modules_import_each_other_in_no_circle() -> None:
    assert cycles() == []


def test_every_import_goes_to_a_lower_layer() -> None:
    height = {package: number for number, layer in enumerate(reversed(layers())) for package in layer}
    upward = [
        f"{module} -> {target}"
        for module, targets in graph().items()
        for target in targets
        if package_of(module) in height
        and package_of(target) != package_of(module)
        and height.get(package_of(target), len(height)) >= height[package_of(module)]
    ]
    assert upward == []


def test_every_package_stands_in_a_layer() -> None:
    known = {package for layer in layers() for package in layer} | {"", "__main__", "examples"}
    assert {package_of(module) for module in modules()} - known == set()


def test_nothing_shipped_uses_the_testing_package() -> None:
    users = [module for module, targets in graph().items() for target in targets if package_of(target) == "testing"]
    assert [module for module in users if package_of(module) != "testing"] == []


def test_the_package_is_imported_at_the_top_of_a_module_only() -> None:
    hidden = []
    for module in modules():
        top = set(syntax(module).body) | set(_type_checking_imports(module))
        hidden += [
            f"{module}:{statement.lineno}"
            for name, statement in imported_names(module)
            if name.split(".")[0] == "pyhudi" and statement not in top
        ]
    assert hidden == []


def _type_checking_imports(module: str) -> list[ast.stmt]:
    return [
        statement
        for node in syntax(module).body
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
        for statement in node.body
    ]


@pytest.mark.parametrize(
    ("library", "allowed"),
    [("pyspark", may_use_spark), ("py4j", may_use_spark), ("pyarrow", may_use_arrow)],
)
def test_heavy_library_is_imported_only_where_it_may_be(library: str, allowed: Callable[[str], bool]) -> None:
    users = {module for module in modules() for name, _ in imported_names(module) if name.split(".")[0] == library}
    assert [module for module in sorted(users) if not allowed(module)] == []


def test_importing_pyhudi_loads_neither_spark_nor_arrow() -> None:
    program = "import sys, pyhudi; print(sorted({'pyspark', 'py4j', 'pyarrow', 'pandas'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT / "src")
    assert done.stdout.strip() == "[]"


def test_drawing_of_the_layers_is_current() -> None:
    assert draw_layers.TARGET.read_text(encoding="utf-8") == draw_layers.render(), "run `make layers`"

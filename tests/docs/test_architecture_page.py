"""The page on the architecture names what is in the source: files, functions, packages and their folders, in import order."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from scripts.import_graph import PACKAGE, ROOT, SOURCE, layers
from tests.docs.pages import ROOT as REPOSITORY

PAGE = ROOT / "docs" / "architecture.md"
NAMED = re.compile(r"`([\w/]+(?:\.py|/))(?::([\w.]+))?`")
LOOKED_IN = (SOURCE / PACKAGE, REPOSITORY)
ROW = re.compile(r"^\| ((?:`[\w.]+/?`(?:, )?)+) \|.*\| (.*)\|$", re.MULTILINE)


def defined(tree: ast.Module, name: str) -> bool:
    """Whether a module defines a function or class, or a class of it a method."""
    body: list[ast.stmt] = tree.body
    for part in name.split("."):
        definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        match = next((node for node in body if isinstance(node, definitions) and node.name == part), None)
        if match is None:
            return False
        body = match.body
    return True


def faults_of(text: str) -> list[str]:
    """What a text names that is not there."""
    faults = []
    for path, name in NAMED.findall(text):
        file = next((folder / path for folder in LOOKED_IN if (folder / path).exists()), None)
        if file is None:
            faults.append(path)
        elif name and not defined(ast.parse(file.read_text(encoding="utf-8")), name):
            faults.append(f"{path}:{name}")
    return faults


def table_of_packages() -> dict[str, list[str]]:
    """The folders of each package as the page lists them."""
    section = PAGE.read_text(encoding="utf-8").split("## Packages", 1)[1].split("\n## ", 1)[0]
    rows = ROW.findall(section)
    return {
        name.removesuffix("/").removesuffix(".py"): re.findall(r"`(\w+)`", folders)
        for names, folders in rows
        for name in re.findall(r"`([\w.]+/?)`", names)
    }


def test_every_file_and_function_on_the_page_exists() -> None:
    assert faults_of(PAGE.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("named", ["txn/nowhere.py", "txn/transaction.py:nowhere", "txn/transaction.py:Transaction.nowhere", "nowhere/"])
def test_a_name_that_leads_nowhere_is_noticed(named: str) -> None:
    assert faults_of(f"`{named}`") == [named]


def test_the_packages_stand_in_import_order() -> None:
    listed = [name for name in table_of_packages() if name != "examples"]
    height = {name: number for number, layer in enumerate(reversed(layers())) for name in layer}
    assert sorted(listed) == sorted(height)
    assert [height[name] for name in listed] == sorted(height.values())


def test_every_folder_of_a_package_is_listed() -> None:
    for package, folders in table_of_packages().items():
        path = SOURCE / PACKAGE / package
        result = {folder.name for folder in Path(path).iterdir() if (folder / "__init__.py").exists()} if path.is_dir() else set()
        assert set(folders) == result, package

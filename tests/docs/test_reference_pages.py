"""Every public name has its place in the API reference (docs/reference), which mkdocstrings makes from the docstrings."""

from __future__ import annotations

import inspect
import re
import typing
from typing import Any

import pytest

import pyhudi
from tests.docs.pages import ROOT
from tests.docs.public_names import CLASSES, all_errors, exported, members, result_type

PAGES = {page: page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs/reference").glob("*.md"))}
SHOWN = [name for text in PAGES.values() for name in re.findall(r"^::: ([\w.]+)$", text, flags=re.MULTILINE)]


def resolved(path: str) -> Any:
    """What a dotted name leads to."""
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        try:
            result: Any = __import__(".".join(parts[:length]), fromlist=["_"])
        except ModuleNotFoundError:
            continue
        for name in parts[length:]:
            result = getattr(result, name)
        return result
    raise LookupError(path)


def classes_in(annotation: Any) -> set[type]:
    """The classes of pyhudi that an annotation names."""
    inner = {cls for argument in typing.get_args(annotation) for cls in classes_in(argument)}
    if inspect.isclass(annotation) and annotation.__module__.startswith("pyhudi."):
        inner.add(annotation)
    return inner


def test_every_name_on_the_pages_exists_and_is_there_once() -> None:
    assert SHOWN
    assert len({id(resolved(name)) for name in SHOWN}) == len(SHOWN)


def test_no_page_leaves_members_out() -> None:
    """What a directive shows is decided in mkdocs.yml: all public members."""
    assert [page.name for page, text in PAGES.items() if re.search(r"^ +(options|members|filters):", text, flags=re.MULTILINE)] == []
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("- mkdocstrings:", 1)[1]
    assert re.search(r"^ +(members|filters):", settings, flags=re.MULTILINE) is None


@pytest.mark.parametrize("name", sorted(exported()))
def test_every_exported_name_has_its_page(name: str) -> None:
    assert f"pyhudi.{name}" in SHOWN


def test_the_classes_behind_the_table_and_all_errors_have_their_page() -> None:
    documented = {id(resolved(name)) for name in SHOWN}
    assert [cls.__name__ for cls in CLASSES if id(cls) not in documented] == []
    assert "pyhudi.errors" in SHOWN
    assert {error.__module__ for error in all_errors().values()} == {"pyhudi.errors"}


@pytest.mark.parametrize("cls", CLASSES)
def test_every_type_that_a_public_method_returns_has_its_page(cls: type) -> None:
    documented = {id(resolved(name)) for name in SHOWN}
    returned = {kind for _, function in members(cls) for kind in classes_in(result_type(function))}
    assert [kind.__name__ for kind in returned if id(kind) not in documented] == []


def test_results_are_exported() -> None:
    returned = {kind for cls in CLASSES for _, function in members(cls) for kind in classes_in(result_type(function))}
    assert {kind.__name__ for kind in returned if re.search(r"(Result|Change|Plan|Explanation)$", kind.__name__)} <= set(pyhudi.__all__)

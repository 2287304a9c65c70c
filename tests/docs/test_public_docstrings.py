"""Who sees a docstring of the public surface in an editor needs nothing else: arguments, results and an example are in it."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from tests.docs.public_names import CLASSES, exported, members

#: Not served yet.
PLANNED = {"clean"}
FUNCTIONS = {name: member for name, member in exported().items() if inspect.isfunction(member)}
FUNCTIONS |= {f"{cls.__name__}.{name}": member for cls in CLASSES for name, member in members(cls) if name not in PLANNED}


def can_only_raise(function: Callable[..., Any]) -> bool:
    """Whether a function has no statement but a docstring and a `raise`."""
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    assert isinstance(node, ast.FunctionDef)
    return isinstance(node.body[-1], ast.Raise) and len(node.body) <= 2


@pytest.mark.parametrize("name", FUNCTIONS)
def test_docstring_names_each_argument_and_has_an_example(name: str) -> None:
    text = inspect.getdoc(FUNCTIONS[name]) or ""
    assert ">>> " in text
    referred = re.findall(r"((?:\w+|`\w+`)(?:, (?:\w+|`\w+`))*(?:,? and \w+)?) as in `\w+`", text)
    arguments = [argument for argument in inspect.signature(FUNCTIONS[name]).parameters if argument not in ("self", "cls")]
    others = [argument for argument in arguments if not re.search(rf"^    {argument}: ", text, re.MULTILINE)]
    if not any("rguments" in words for words in referred):
        assert [argument for argument in others if not any(f"`{argument}`" in words for words in referred)] == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_docstring_says_what_a_call_with_a_result_returns(name: str) -> None:
    text, signature = inspect.getdoc(FUNCTIONS[name]) or "", inspect.signature(FUNCTIONS[name])
    if signature.return_annotation not in ("None", None):
        is_property = list(signature.parameters) == ["self"] and not text.startswith(("Return", "Read"))
        assert is_property or re.match(r"Return|Open|Create", text) or "Returns:" in text or "as in `" in text


def test_no_method_can_only_raise() -> None:
    assert {f"{cls.__name__}.{name}" for cls in CLASSES for name, member in members(cls) if can_only_raise(member)} <= {
        f"Services.{name}" for name in PLANNED
    }

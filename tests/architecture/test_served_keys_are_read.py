"""No option is served that nobody reads: each key's name, or a constant that holds it, is in a function outside the list of keys."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pyhudi
from pyhudi.spec.config.config_key import Status
from pyhudi.spec.config.config_keys import KEYS

SOURCE = Path(pyhudi.__file__).parent
_UNKNOWN = "?"
LISTS = (SOURCE / "spec" / "config", SOURCE / "spec" / "config_keys.py", SOURCE / "examples")


def test_every_served_key_is_named_where_something_is_done() -> None:
    named = set(_named_in_functions())
    endings = tuple(text.removeprefix(_UNKNOWN) for text in named if text.startswith(f"{_UNKNOWN}."))
    served = [key for key in KEYS if key.status is Status.SERVED]
    assert [key.name for key in served if not named & {key.name, *key.aliases} and not key.name.endswith(endings)] == []


def _named_in_functions() -> Iterator[str]:
    for path in sorted(SOURCE.rglob("*.py")):
        if any(path.is_relative_to(index) for index in LISTS):
            continue
        text = path.read_text(encoding="utf-8")
        if "option" not in text:
            continue
        functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
        module = importlib.import_module(".".join(("pyhudi", *path.relative_to(SOURCE).with_suffix("").parts)))
        for function in functions:
            for node in ast.walk(function):
                yield from _texts(node, module)


def _texts(node: ast.AST, module: ModuleType) -> Iterable[str]:
    """Return the texts that an expression stands for, as far as the module alone tells: literals, constants, and what is put together."""
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.Name(id=name):
            return _held(getattr(module, name, None))
        case ast.Attribute(value=ast.Name(id=name), attr=attribute):
            return _held(getattr(getattr(module, name, None), attribute, None))
        case ast.JoinedStr(values=parts):
            return [_joined(parts, module)]
    return []


def _held(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in _held(part)]
    if isinstance(value, tuple | list | frozenset | set):
        return [text for part in value for text in _held(part)]
    return []


def _joined(parts: Iterable[ast.expr], module: ModuleType) -> str:
    """Return a formatted text with the constants in it; what else it holds is not known."""
    strings = []
    for part in parts:
        result = list(_texts(part.value if isinstance(part, ast.FormattedValue) else part, module))
        strings.append(result[0] if len(result) == 1 else _UNKNOWN)
    return "".join(strings)

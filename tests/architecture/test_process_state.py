"""What outlives a call and is shared by the threads of a process is listed, with its bound, in docs/design/0094-process-wide-state.md.

Caches are `pyhudi.cache.LruCache` or `functools.lru_cache` of a stated size: both are limited, and threads may share them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from scripts.import_graph import ROOT, modules, syntax

NOTE = (ROOT / "docs/design/0094-process-wide-state.md").read_text(encoding="utf-8")
LISTED = set(re.findall(r"^\| `([\w.]+)` \|", NOTE, flags=re.MULTILINE))
CONTAINERS = {"dict", "list", "set", "defaultdict", "OrderedDict", "deque", "WeakKeyDictionary", "WeakValueDictionary", "WeakSet"}
OTHERS = {"Lock", "RLock", "local", "count"}


def keeps_state(cls: ast.ClassDef) -> bool:
    """Whether instances change: those of a class with an `__init__` of its own, and what each thread has for itself."""
    return any(isinstance(node, ast.FunctionDef) and node.name == "__init__" for node in cls.body) or any(
        ast.unparse(base).endswith("local") for cls_base in [cls.bases] for base in cls_base
    )


def is_state(value: ast.expr, classes: dict[str, ast.ClassDef]) -> bool:
    """Whether a value of a module may change: an empty container, a lock, a counter, or an object with attributes that are set."""
    if isinstance(value, ast.Dict | ast.List):
        return not getattr(value, "keys", None) and not getattr(value, "elts", None)
    if not isinstance(value, ast.Call):
        return False
    name = ast.unparse(value.func).rpartition(".")[2]
    if name in CONTAINERS:
        return not value.args
    return name in OTHERS or (name in classes and keeps_state(classes[name]))


def state_of(tree: ast.Module) -> Iterator[str]:
    """The names of a module's values that may change."""
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and is_state(node.value, classes):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))


def unlimited_caches(tree: ast.Module) -> Iterator[str]:
    """The functions with arguments whose results are cached without limit."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef) or not (node.args.args or node.args.kwonlyargs or node.args.vararg):
            continue
        strings = [ast.unparse(decorator) for decorator in node.decorator_list]
        if any(re.fullmatch(r"(functools\.)?(cache|lru_cache\((maxsize=)?None\))", text) for text in strings):
            yield node.name


def test_what_modules_hold_is_listed_with_its_bound() -> None:
    held = {f"{module.removeprefix('pyhudi.')}.{name}" for module in modules() for name in state_of(syntax(module))}
    held |= {f"{module.removeprefix('pyhudi.')}.{name}" for module in modules() for name in unlimited_caches(syntax(module))}
    assert held == LISTED


def test_no_function_changes_a_name_of_its_module_but_those_listed() -> None:
    changed = {
        f"{module.removeprefix('pyhudi.')}.{name}"
        for module in modules()
        for node in ast.walk(syntax(module))
        if isinstance(node, ast.Global)
        for name in node.names
    }
    assert changed - LISTED == set()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a = {}\nb = []\nc: set[int] = set()\nd = {1: 2}\ne = set(d)", ["a", "b", "c"]),
        ("class A:\n    def __init__(self): ...\nclass B: ...\na = A()\nb = B()", ["a"]),
        ("a = threading.Lock()\nb = itertools.count()\nc: X = LruCache(3)", ["a", "b"]),
        ("class A(threading.local): ...\na = A()", ["a"]),
    ],
)
def test_state_is_noticed(text: str, names: list[str]) -> None:
    assert list(state_of(ast.parse(text))) == names


def test_a_cache_without_limit_is_noticed() -> None:
    text = "@cache\ndef a(): ...\n@cache\ndef b(x): ...\n@lru_cache(maxsize=9)\ndef c(x): ...\n@functools.lru_cache(None)\ndef d(x): ..."
    assert list(unlimited_caches(ast.parse(text))) == ["b", "d"]


def test_properties_are_cached_without_a_lock_that_all_instances_share() -> None:
    """That of `functools` holds one in Python 3.11, on which forked children wait for ever: see `pyhudi.cache.cached_property`."""
    imported = [
        module
        for module in modules()
        for node in ast.walk(syntax(module))
        if isinstance(node, ast.ImportFrom) and node.module == "functools" and "cached_property" in [name.name for name in node.names]
    ]
    assert imported == []

"""Names and words are those of Hudi, databases, Spark and Arrow; each module can be found by its file name.

The lists hold words that this project used for something that has a name in the field, with that name.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

import pytest

from scripts.import_graph import ROOT, modules, syntax

MOST_MODULES = 20

#: Parts of identifiers, and what they are called instead.
NAMES = {
    "piece": "file_slice",
    "pieces": "file_slices",
    "taken_back": "rolled_back",
    "take_back": "rollback",
    "judge": "the reference implementation",
    "judged": "evaluated, checked",
    "overruled": "merge_options",
    "deed": "action",
    "twins": "duplicates",
    "room_of": "package_of",
    "place": "index, position, location",
    "places": "indices, positions, locations",
    "texts": "strings",
    "kept": "retained, cached, unchanged",
    "gone": "removed, deleted, missing",
    "dead": "deleted, failed",
    "reborn": "reinserted",
    "standing": "live",
    "stands": "is_live, exists",
    "moment": "timestamp, time",
    "moments": "timestamps",
    "told": "recorded",
    "said": "stated",
    "beside": "concurrent",
    "anew": "rebuild",
    "afresh": "new",
    "own": "the noun: mdt, folder, options",
    "homeless": "unmatched",
    "void": "no_op",
    "idle": "no_op, unused",
    "strange": "unknown",
    "needy": "dependents",
    "elsewhere": "missing, other",
    "altered": "apply_changes",
    "routed": "route_rows",
    "explained": "explain",
    "overlaid": "overlay_values",
    "gaps": "fill_policy, missing values",
    "settled": "resolved",
    "refined": "resolved for the batch",
    "struck": "injected",
    "finder": "locator",
    "wanted": "requested, projection, expected",
    "ring": "hashing metadata",
    "rings": "hashing metadata",
    "deeds": "actions",
    "doomed": "deleted, or the noun",
    "brought": "present, or the noun",
    "strangers": "foreign files",
}
#: Names that say nothing as whole names, and are fine as a part of one.
WHOLE_NAMES = {
    "found": "the noun that was found",
    "shown": "visible, or the noun: names, fields, text",
    "seen": "visited, or the noun",
    "opened": "the noun: table, snapshot, files",
    "moved": "the noun: rows, leaving, arriving",
    "asked": "requested, or the noun",
    "ask": "request, query, call",
    "located": "prepped, or the noun",
    "here": "the noun: local, live, source",
    "there": "the noun: stored, existing, target",
}
#: Names that say nothing in tests, benches and scripts either.
ANYWHERE = {*WHOLE_NAMES, "gone", "kept", "place", "places", "ring", "said", "texts", "told", "wanted"} - {"here", "there", "located"}
#: Public names and table columns that keep a word for users' sake, and names of Python's.
PUBLIC = {"kept_because", "MetaPathFinder", "PathFinder"}
#: Former public names, which warn for one release.
DEPRECATED = {("pyhudi.table.explain", "found")}
#: Phrases of docstrings and comments, as regular expressions.
PHRASES = {
    r"\b(take|takes|taken|taking|took) (it |them )?back\b": "roll back",
    r"\bmend(s|ed|ing)?\b": "fix",
    r"\b(the|a) judge\b": "Apache Hudi, or the reference implementation",
    r"\banew\b": "again, rebuilt, recreated",
    r"\b(gone|goes|go) on with\b": "continue",
    r"\btruth values?\b": "boolean",
    r"\bstands? for ever\b": "is permanent",
    r"\blower floors?\b|\bfloors of the package": "layer",
    r"\bstands? (in|at|there|below|above|between|under|within|behind|before|once|twice|still|on top)\b": "is, follows, precedes, occurs",
    r"\b(go|goes) before\b": "take precedence over, precede",
    r"\bbeside (the )?(other )?writers\b": "concurrently with writers",
    r"\b(is|are|was|were) gone\b": "is missing, is removed",
    r"\btold (apart|from)\b|\bcannot be told\b|\btold otherwise\b": "distinguished, known",
}


def identifiers(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.arg(arg=name) | ast.Attribute(attr=name):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name


def prose(module: str) -> Iterator[str]:
    for node in ast.walk(syntax(module)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            yield ast.get_docstring(node) or ""
    for line in modules()[module].read_text(encoding="utf-8").splitlines():
        if line.lstrip().startswith("#"):
            yield line


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_")


def test_identifiers_use_the_terms_of_the_field() -> None:
    banned = re.compile(rf"(^|_)({'|'.join(NAMES)})(_|$)")
    names = {
        (module, name)
        for module in modules()
        for name in identifiers(syntax(module))
        if name not in PUBLIC and not name.startswith("test_")
    } - DEPRECATED
    hits = {f"{module}: {name}" for module, name in names if banned.search(snake(name)) or (snake(name) in WHOLE_NAMES)}
    assert sorted(hits) == [], f"the field's words: {NAMES | WHOLE_NAMES}"


def test_names_in_tests_say_what_they_hold() -> None:
    paths = [path for folder in ("tests", "bench", "scripts") for path in (ROOT / folder).rglob("*.py")]
    assert len(paths) > 300
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}
    hits = {(path.name, name) for path, tree in trees.items() for name in identifiers(tree) if name in ANYWHERE}
    assert sorted(hits) == []


@pytest.mark.parametrize("phrase", PHRASES)
def test_docstrings_and_comments_use_the_terms_of_the_field(phrase: str) -> None:
    banned = re.compile(phrase, re.IGNORECASE)
    hits = {module for module in modules() for text in prose(module) if banned.search(text)}
    assert sorted(hits) == [], f"say: {PHRASES[phrase]}"


def test_a_module_can_be_found_by_its_file_name() -> None:
    names = Counter(path.name for path in modules().values() if path.name != "__init__.py")
    assert [name for name, count in names.items() if count > 1] == []


def test_a_folder_holds_few_enough_modules_to_be_read() -> None:
    folders = Counter(str(path.parent.relative_to(ROOT)) for path in modules().values() if path.name != "__init__.py")
    assert {folder: count for folder, count in folders.items() if count > MOST_MODULES} == {}


def test_every_folder_says_what_it_holds_and_may_import() -> None:
    for path in {path.parent for path in modules().values()}:
        text = ast.get_docstring(ast.parse((path / "__init__.py").read_text(encoding="utf-8")))
        assert text, f"{path.relative_to(ROOT)}/__init__.py has no docstring"

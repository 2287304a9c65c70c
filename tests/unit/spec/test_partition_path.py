"""Partition paths: what was built is taken apart again, and none leaves the table."""

from __future__ import annotations

import posixpath

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pyhudi.errors import KeyFieldError
from pyhudi.spec.files.partition_path import DEFAULT_PARTITION, build, check, escape_value, parse, unescape_value

VALUES = st.text(min_size=1, max_size=12).filter(str.strip)
FIELDS = ["city", "day"]


@given(st.text())
def test_escaping_is_undone(value: str) -> None:
    assert unescape_value(escape_value(value)) == value


@given(st.lists(st.none() | VALUES, min_size=2, max_size=2), st.booleans())
def test_encoded_values_come_back(values: list[str | None], hive_style: bool) -> None:
    try:
        path = build(FIELDS, values, hive_style=hive_style, url_encode=True)
    except KeyFieldError:
        assume(False)
    assume(DEFAULT_PARTITION not in values)
    assert parse(path, FIELDS, hive_style=hive_style, url_encode=True) == tuple(values)


@given(st.lists(VALUES, min_size=1, max_size=3), st.booleans(), st.booleans())
def test_no_path_that_is_built_leaves_the_table(values: list[str], hive_style: bool, url_encode: bool) -> None:
    fields = [f"f{at}" for at in range(len(values))]
    try:
        path = build(fields, values, hive_style=hive_style, url_encode=url_encode)
    except KeyFieldError:
        return
    assert posixpath.normpath(posixpath.join("/base", path)) == posixpath.join("/base", path)
    assert not path.startswith(".hoodie/")


@pytest.mark.parametrize(
    ("value", "helps"), [("a//b", True), ("/a", True), ("a\\b", True), ("..", False), ("../b", False), (".hoodie", False)]
)
@pytest.mark.parametrize("url_encode", [True, False])
def test_encoding_is_advised_where_it_helps(value: str, helps: bool, url_encode: bool) -> None:
    if helps and url_encode:
        assert parse(build(["city"], [value], hive_style=False, url_encode=True), ["city"], hive_style=False, url_encode=True) == (value,)
        return
    with pytest.raises(KeyFieldError, match=r"change the value" + (r", or create the table with .*urlencode=true$" if helps else "$")):
        build(["city"], [value], hive_style=False, url_encode=url_encode)


@pytest.mark.parametrize(
    ("value", "escaped"),
    [("a b", "a b"), ("a/b", "a%2Fb"), ("é", "é"), ("x=1", "x%3D1"), ("10:00", "10%3A00"), ("{}", "%7B}"), ("%", "%25")],
)
def test_escaping_is_hudis(value: str, escaped: str) -> None:
    assert escape_value(value) == escaped


@pytest.mark.parametrize(
    ("path", "hive_style", "values"),
    [
        ("city=Paris/day=2026-01-01", True, ("Paris", "2026-01-01")),
        ("Paris/2026-01-01", False, ("Paris", "2026-01-01")),
        (f"city={DEFAULT_PARTITION}/day=x", True, (None, "x")),
        ("default/x", False, ("default", "x")),
        ("city=a=b/day=c", True, ("a=b", "c")),
        ("city=a/b/day=c", True, ("a/b", "c")),
    ],
)
def test_paths_are_taken_apart(path: str, hive_style: bool, values: tuple[str | None, ...]) -> None:
    assert parse(path, FIELDS, hive_style=hive_style, url_encode=False) == values


def test_one_field_takes_the_whole_path() -> None:
    assert parse("2026/01/02", ["day"], hive_style=False, url_encode=False) == ("2026/01/02",)


@pytest.mark.parametrize(("path", "hive_style"), [("a/b/c", False), ("a", False), ("city=a", True), ("a/b", True)])
def test_a_path_that_could_mean_several_things_is_not_guessed_at(path: str, hive_style: bool) -> None:
    with pytest.raises(KeyFieldError):
        parse(path, FIELDS, hive_style=hive_style, url_encode=False)


@pytest.mark.parametrize(
    "path",
    [
        "../../x",
        "..",
        ".",
        "a/../b",
        "a/./b",
        "a//b",
        "/a",
        "a/",
        "s3://bucket/x",
        "file:/x",
        "a\\b",
        "..\\x",
        "a\x00b",
        "a\nb",
        ".hoodie",
        ".hoodie/timeline",
        "%2e%2e/x",
        "%2E%2E%2Fx",
        "%252e%252e/x",
        "day=..",
        "day=%2e%2e",
        "\uff0e\uff0e/x",
        "\u2025/x",
    ],
)
def test_paths_that_leave_the_table_are_refused(path: str) -> None:
    with pytest.raises(KeyFieldError, match="refused"):
        check(path)


@pytest.mark.parametrize("path", ["", "a", "a/b", "day=2026-01-01 10:00:00", "100%25", "a%2Fb", "...", "..a", "é", ".hoodie_x"])
def test_plain_paths_are_fine(path: str) -> None:
    check(path)

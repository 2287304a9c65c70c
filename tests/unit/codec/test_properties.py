"""Java properties: Hudi's own files come out as they went in; damaged ones give a typed error."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyhudi.codec.partition_metafile import PartitionMetafile, parse, render
from pyhudi.errors import CorruptTableError
from pyhudi.javacompat.properties import parse_properties, render_properties
from pyhudi.spec.table.table_config import TableConfig, checksum
from tests.tables import NAMES

AT = datetime(2026, 12, 1, 4, 5, 47, 825000, tzinfo=UTC)
#: Java 8 wrote these, with another order of keys.
BY_JAVA_8 = {name for name in NAMES if name.startswith("cow/v6_")}


@pytest.mark.parametrize("name", NAMES)
def test_hudis_own_properties_are_rendered_as_they_were(name: str, fixture_table: Callable[[str], Path]) -> None:
    data = (fixture_table(name) / ".hoodie" / "hoodie.properties").read_bytes()
    properties = parse_properties(data)
    rendered = render_properties(properties, AT, updated=False).splitlines()[2:]
    expected = data.splitlines()[2:]
    if name in BY_JAVA_8:
        assert sorted(rendered) == sorted(expected)
    else:
        assert rendered == expected
    assert properties["hoodie.table.checksum"] == str(checksum(properties))


@given(st.dictionaries(st.text(max_size=20), st.text(max_size=40), max_size=40))
def test_any_entries_survive(entries: dict[str, str]) -> None:
    def utf16(text: str) -> str:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    assert parse_properties(render_properties(entries, AT, updated=True)) == {utf16(key): utf16(value) for key, value in entries.items()}


@given(st.binary(max_size=300))
def test_any_bytes_give_entries_or_a_typed_error(data: bytes) -> None:
    try:
        assert all(isinstance(value, str) for value in parse_properties(data).values())
    except CorruptTableError:
        assert b"\\u" in data


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("a=1\nb:2\nc 3\nd\n", {"a": "1", "b": "2", "c": "3", "d": ""}),
        ("# no=1\n ! no=2\n  a = 1  \n", {"a": "1  "}),
        ("a=1,\\\n   2\\\n   ,3\n", {"a": "1,2,3"}),
        ("a=1\\\\\nb=2\n", {"a": "1\\", "b": "2"}),
        ("a\\ b\\=c=\\u00e9\\t\\:\n", {"a b=c": "é\t:"}),
        ("a=\\ud83d\\ude00\r\nb=2\rc=3", {"a": "😀", "b": "2", "c": "3"}),
        ("a=1\na=2\n", {"a": "2"}),
        ("a==1\n", {"a": "=1"}),
    ],
)
def test_the_rules_of_java_are_followed(text: str, entries: dict[str, str]) -> None:
    assert parse_properties(text.encode("latin-1")) == entries


def test_the_comment_lines_are_hudis() -> None:
    lines = render_properties({}, AT, updated=False).decode().splitlines()
    assert lines == ["#Properties saved on 2026-12-01T04:05:47.825Z", "#Tue Dec 01 04:05:47 UTC 2026"]
    assert render_properties({}, AT, updated=True).decode().startswith("#Updated at 2026-12-01T04:05:47.825Z\n")


def test_every_prefix_of_a_properties_file_is_a_table_or_a_typed_error(fixture_table: Callable[[str], Path]) -> None:
    data = (fixture_table("cow/v8_empty") / ".hoodie" / "hoodie.properties").read_bytes()
    whole = TableConfig(parse_properties(data))
    for end in range(len(data)):
        try:
            config = TableConfig(parse_properties(data[:end]))
        except CorruptTableError:
            continue
        # Cut only behind all that tells what the table is.
        assert (config.version, config.layout, config.table_type) == (whole.version, whole.layout, whole.table_type)


def test_each_line_that_tells_what_the_table_is_cannot_be_missing(fixture_table: Callable[[str], Path]) -> None:
    lines = (fixture_table("cow/v9_txns_simple_nometa") / ".hoodie" / "hoodie.properties").read_bytes().splitlines()
    missed = set()
    for at, line in enumerate(lines):
        key = line.partition(b"=")[0].decode()
        entries = parse_properties(b"\n".join(lines[:at] + lines[at + 1 :]))
        if key in {"hoodie.table.name", "hoodie.table.version", "hoodie.table.type", "hoodie.timeline.layout.version"}:
            with pytest.raises(CorruptTableError, match=key):
                TableConfig(entries)
            missed.add(key)
        else:
            assert TableConfig(entries).version == 9
    assert len(missed) == 4


@pytest.mark.parametrize("name", ["cow/v6_complexkeygen_hivestyle", "cow/v9_timebasedkeygen_epochmillis"])
def test_partition_metafiles_are_rendered_as_they_were(name: str, fixture_table: Callable[[str], Path]) -> None:
    files = sorted(fixture_table(name).rglob(".hoodie_partition_metadata"))
    assert files
    for file in files:
        result = parse(file.read_bytes())
        assert result.depth == len(file.parent.relative_to(fixture_table(name)).parts) or ".hoodie" in file.parts
        rendered = render(result.commit_time, result.depth, AT)
        assert sorted(rendered.splitlines()[2:]) == sorted(file.read_bytes().splitlines()[2:])
        assert rendered.splitlines()[0] == file.read_bytes().splitlines()[0]


@pytest.mark.parametrize("data", [b"", b"commitTime=1\n", b"partitionDepth=1\n", b"commitTime=1\npartitionDepth=-1\n"])
def test_a_damaged_partition_metafile_is_refused(data: bytes) -> None:
    with pytest.raises(CorruptTableError):
        parse(data)


def test_a_partition_metafile_survives() -> None:
    assert parse(render("20261201040547825", 2, AT)) == PartitionMetafile("20261201040547825", 2)

"""Tables before version 9 with the generator COMPLEX and one key field that do not say how they write its keys: their files prove it."""

from __future__ import annotations

import pytest

from pyhudi.errors import OptionError, UnsupportedError
from pyhudi.metadata_table.read.metadata_view import open_view
from pyhudi.spec.table import table_keys as keys
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.table_properties import load_properties, store_properties
from pyhudi.table.hudi_table import HudiTable
from pyhudi.timeline.clock import SystemClock
from tests.unit.table.tables import make_table, ride

WAYS = {"VALUE_ONLY": "1", "FIELD_PREFIXED": "id:1"}
NEW_ENCODING = "hoodie.write.complex.keygen.new.encoding"


def written(way: str | None, version: str = "8", table_type: str = "COPY_ON_WRITE") -> HudiTable:
    """A table with a row in each of two partitions, whose properties say nothing of its keys, as Apache Hudi makes them."""
    stated = {} if way is None else {keys.COMPLEX_KEY_ENCODING: way}
    options = {"hoodie.write.table.version": version, **stated}
    table = make_table(partition_by=["city", "at"], table_type=table_type, options=options)
    if way is not None:
        table.insert([ride(1), ride(2, "rome")])
    return said_to_be(table, None)


def said_to_be(table: HudiTable, way: str | None) -> HudiTable:
    if way is None:
        store_properties(table.storage, {}, SystemClock().now(), remove=[keys.COMPLEX_KEY_ENCODING])
    else:
        store_properties(table.storage, {keys.COMPLEX_KEY_ENCODING: way}, SystemClock().now())
    changed = HudiTable(table.storage)
    if way is not None:
        changed.inspect.health(fix_properties=True)  # as one does who changed the properties on purpose
    return changed


def stored(table: HudiTable) -> list[tuple[str, int]]:
    rows = table.to_arrow(columns=["_hoodie_record_key", "value"]).to_pylist()
    return sorted((row["_hoodie_record_key"], row["value"]) for row in rows)


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("version", ["6", "8"])
@pytest.mark.parametrize("way", WAYS)
def test_keys_are_written_as_the_files_have_them(way: str, version: str, table_type: str) -> None:
    table = written(way, version, table_type)
    table.upsert([ride(1, value=5)])
    table.delete([ride(2, "rome")])
    assert stored(table) == [(WAYS[way], 5)]
    assert keys.COMPLEX_KEY_ENCODING not in load_properties(table.storage)


def test_a_table_without_rows_gets_the_keys_that_apache_hudi_writes() -> None:
    table = written(None)
    table.insert([ride(1)])
    assert stored(table) == [("id:1", 0)]


def test_a_new_table_says_how_its_keys_are_written() -> None:
    table = make_table(partition_by=["city", "at"], options={"hoodie.write.table.version": "6"})
    assert load_properties(table.storage)[keys.COMPLEX_KEY_ENCODING] == "FIELD_PREFIXED"


def test_a_table_that_holds_both_is_refused() -> None:
    table = said_to_be(written("VALUE_ONLY"), "FIELD_PREFIXED")
    table.insert([ride(3, "lima")])
    mixed = said_to_be(table, None)
    with pytest.raises(UnsupportedError, match=f"add the line {keys.COMPLEX_KEY_ENCODING}"):
        mixed.upsert([ride(1, value=5)])
    assert TableConfig(load_properties(mixed.storage)).key_encoding_is_open


@pytest.mark.parametrize(("way", "bare"), [("VALUE_ONLY", "false"), ("FIELD_PREFIXED", "true")])
def test_an_option_for_other_keys_than_the_stored_ones_is_refused(way: str, bare: str) -> None:
    table = written(way)
    with pytest.raises(OptionError, match=f"{NEW_ENCODING}={bare} contradicts .* {way}"):
        table.upsert([ride(1, value=5)], options={NEW_ENCODING: bare})
    assert stored(table) == [(WAYS[way], 0), (WAYS[way].replace("1", "2"), 0)]


def test_a_write_looks_for_the_encoding_once(monkeypatch: pytest.MonkeyPatch) -> None:
    table, views = written("VALUE_ONLY"), []
    monkeypatch.setattr("pyhudi.index.key_encoding.open_view", lambda *args: views.append(args) or open_view(*args))  # type: ignore[func-returns-value, redundant-expr]
    table.upsert([ride(1, value=5)])
    assert len(views) == 1

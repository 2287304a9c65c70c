"""Schemas whose columns have numbers: the texts that Apache Hudi writes, and which numbers columns get."""

from __future__ import annotations

import pyarrow as pa
import pytest

from pyhudi.errors import CorruptTableError, SchemaError
from pyhudi.schema.internal.as_arrow import data_columns, first_version
from pyhudi.schema.internal.as_json import from_json, history_from_json, history_to_json, to_json
from pyhudi.schema.internal.schema_change import add_column, drop_column, may_become
from pyhudi.schema.internal.schema_history import SchemaHistory, history_of, reconciled, with_history

META = ",".join(
    f'{{"id":{number},"name":"_hoodie_{name}","optional":true,"type":"string","doc":""}}'
    for number, name in enumerate(("commit_time", "commit_seqno", "record_key", "partition_path", "file_name"))
)
#: As Apache Hudi 1.2.0 wrote it.
WRITTEN = (
    f'{{"max_column_id":24,"version_id":20261121172711775,"type":"record","fields":[{META},'
    '{"id":5,"name":"id","optional":true,"type":"int"},{"id":6,"name":"d","optional":true,"type":"decimal_fixed(10, 2)[5]"},'
    '{"id":7,"name":"tm","optional":true,"type":"timestamp"},{"id":8,"name":"dd","optional":true,"type":"date","doc":"a day"},'
    '{"id":9,"name":"b","optional":true,"type":"binary"},{"id":10,"name":"bo","optional":true,"type":"boolean"},'
    '{"id":11,"name":"a","optional":true,"type":{"type":"array","element_id":14,"element":{"type":"record","fields":'
    '[{"id":15,"name":"x","optional":true,"type":"int"},{"id":16,"name":"y","optional":true,"type":"string"}]},"element_optional":true}},'
    '{"id":12,"name":"m","optional":true,"type":{"type":"map","key_id":17,"key":"string","value_id":18,"value":{"type":"record","fields":'
    '[{"id":19,"name":"p","optional":true,"type":"long"}]},"value_optional":true}},'
    '{"id":13,"name":"s","optional":true,"type":{"type":"record","fields":[{"id":20,"name":"u","optional":true,"type":"float"},'
    '{"id":24,"name":"z","optional":true,"type":"double"},'
    '{"id":21,"name":"v","optional":true,"type":{"type":"record","fields":[{"id":22,"name":"w","optional":true,"type":"float"}]}}]}}]}'
)


def test_text_of_apache_hudi_is_read_and_written_to_the_last_character() -> None:
    assert to_json(from_json(WRITTEN)) == WRITTEN
    history = f'{{"schemas":[{WRITTEN}]}}'
    assert history_to_json(history_from_json(history)) == history


def test_hyphens_of_older_releases_are_read() -> None:
    assert from_json(WRITTEN.replace("version_id", "version-id").replace("element_id", "element-id")) == from_json(WRITTEN)


def test_fields_of_a_struct_are_numbered_before_what_is_inside_them() -> None:
    written = from_json(WRITTEN)
    first = first_version(data_columns(drop_column(written, ("s", "z"))))
    assert [field.id for field in first.record.fields] == list(range(14))
    assert first.find(("a", "element", "y")).id == 16
    assert first.find(("s", "v", "w")).id == 22
    assert first.max_id == 22


def test_number_of_a_dropped_column_is_not_given_again() -> None:
    first = first_version(pa.schema([("id", pa.int64()), ("x", pa.int32())]))
    again = add_column(drop_column(first, ("x",)), ("x",), pa.int32())
    assert (first.find(("x",)).id, again.find(("x",)).id, again.max_id) == (6, 7, 7)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version_id":1,"max_column_id":2,"type":"record","fields":[{"id":0}]}', "no json"])
def test_damaged_text_is_an_error_that_shows_it(text: str) -> None:
    with pytest.raises(CorruptTableError):
        from_json(text)
    with pytest.raises(CorruptTableError):
        history_from_json(text)


def test_history_travels_with_the_columns_and_tells_the_version_of_a_file() -> None:
    first = first_version(pa.schema([("id", pa.int64()), ("x", pa.int32())]))
    history = SchemaHistory((first,), first, {"20260101000000005": 0}).changed(drop_column(first, ("x",))).written("20260101000000003")
    propagate_errors = history_of(with_history(data_columns(history.current), history))
    assert propagate_errors is not None
    versions = [propagate_errors.at(f"2026010100000000{n}").version for n in (1, 3, 4, 5)]
    assert versions == [0, 20260101000000003, 20260101000000003, 0]
    assert history_of(data_columns(first)) is None


def test_a_commit_that_is_older_than_the_version_it_writes_states_it() -> None:
    first = first_version(pa.schema([("id", pa.int64()), ("x", pa.int32())]))
    history = SchemaHistory((first,), first).changed(drop_column(first, ("x",))).written("20260101000000003")
    assert [history.written(f"2026010100000000{n}").at("20260101000000002").version for n in (2, 4)] == [20260101000000003, 0]


def test_columns_that_a_write_brings_get_numbers_and_known_ones_keep_theirs() -> None:
    first = first_version(pa.schema([("id", pa.int64()), ("s", pa.struct([("a", pa.int32())]))]))
    wider = pa.schema([("new", pa.string()), ("id", pa.int64()), ("s", pa.struct([("b", pa.int32()), ("a", pa.int32())]))])
    result = reconciled(SchemaHistory((first,), first), wider).current
    assert [result.find(path).id for path in (("new",), ("id",), ("s",), ("s", "b"), ("s", "a"))] == [8, 5, 6, 9, 7]
    with pytest.raises(SchemaError, match="cannot become"):
        reconciled(SchemaHistory((first,), first), pa.schema([("s", pa.int32())]))


@pytest.mark.parametrize(
    ("kind", "arrow", "allowed"),
    [
        ("int", pa.decimal128(10, 2), True),
        ("float", pa.float64(), True),
        ("double", pa.float32(), False),
        ("string", pa.date32(), True),
        ("string", pa.int32(), False),
        ("decimal_fixed(10, 2)[5]", pa.decimal128(12, 2), True),
        ("decimal_fixed(10, 2)[5]", pa.decimal128(10, 4), False),
        ("timestamp", pa.string(), False),
        ("int", pa.struct([("a", pa.int32())]), False),
    ],
)
def test_types_become_only_what_their_values_can_be_read_as(kind: str, arrow: pa.DataType, allowed: bool) -> None:
    assert may_become(kind, arrow) is allowed

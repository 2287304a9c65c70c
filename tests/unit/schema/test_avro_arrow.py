"""Avro JSON of a table's schema, both ways."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyhudi.errors import CorruptTableError, SchemaError, UnsupportedError
from pyhudi.schema.avro_arrow import arrow_to_avro, avro_to_arrow, with_meta_fields

# As Apache Hudi 1.0 wrote it into a commit (shortened to one column of each kind).
HUDI_SCHEMA = (
    '{"type":"record","name":"t_record","namespace":"hoodie.t","fields":['
    '{"name":"id","type":["null","int"],"default":null},'
    '{"name":"decimalField","type":["null",{"type":"fixed","name":"fixed","namespace":"hoodie.t.t_record.decimalField",'
    '"size":5,"logicalType":"decimal","precision":10,"scale":5}],"default":null},'
    '{"name":"dateField","type":["null",{"type":"int","logicalType":"date"}],"default":null},'
    '{"name":"timestampField","type":["null",{"type":"long","logicalType":"timestamp-micros"}],"default":null},'
    '{"name":"arrayField","type":["null",{"type":"array","items":["null",{"type":"record","name":"arrayField",'
    '"namespace":"hoodie.t.t_record","fields":[{"name":"f1","type":["null","string"],"default":null}]}]}],"default":null},'
    '{"name":"mapField","type":["null",{"type":"map","values":["null",{"type":"record","name":"mapField",'
    '"namespace":"hoodie.t.t_record","fields":[{"name":"f1","type":["null","double"],"default":null}]}]}],"default":null},'
    '{"name":"structField","type":["null",{"type":"record","name":"structField","namespace":"hoodie.t.t_record","fields":['
    '{"name":"child","type":["null",{"type":"record","name":"child","namespace":"hoodie.t.t_record.structField","fields":['
    '{"name":"x","type":["null","boolean"],"default":null}]}],"default":null}]}],"default":null}]}'
)

leaves = st.sampled_from(
    [
        pa.bool_(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.string(), pa.binary(), pa.date32(),
        pa.timestamp("us", "UTC"), pa.timestamp("ms", "UTC"), pa.timestamp("us"), pa.decimal128(10, 2), pa.decimal128(38, 10),
    ]
)  # fmt: skip
names = st.lists(st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_]{0,5}", fullmatch=True), min_size=1, max_size=4, unique_by=str.lower)


@st.composite
def fields_of(draw: st.DrawFn, types: st.SearchStrategy[pa.DataType]) -> list[pa.Field]:
    return [pa.field(name, draw(types), nullable=draw(st.booleans())) for name in draw(names)]


def nested(types: st.SearchStrategy[pa.DataType]) -> st.SearchStrategy[pa.DataType]:
    nullable = st.booleans()
    return st.one_of(
        st.builds(lambda item, null: pa.list_(pa.field("element", item, nullable=null)), types, nullable),
        st.builds(lambda item, null: pa.map_(pa.string(), pa.field("value", item, nullable=null)), types, nullable),
        fields_of(types).map(pa.struct),
    )


schemas = fields_of(st.recursive(leaves, nested, max_leaves=6)).map(pa.schema)


def test_schema_of_a_hudi_commit_is_reproduced_byte_for_byte() -> None:
    assert arrow_to_avro(avro_to_arrow(HUDI_SCHEMA), "t") == HUDI_SCHEMA


@given(schemas)
def test_any_schema_survives_the_way_through_avro(schema: pa.Schema) -> None:
    assert avro_to_arrow(arrow_to_avro(schema, "t")).equals(schema)


def test_meta_fields_lead_and_have_an_empty_doc() -> None:
    fields = json.loads(with_meta_fields(arrow_to_avro(pa.schema({"id": pa.int64()}), "t")))["fields"]
    assert [field["name"] for field in fields][-2:] == ["_hoodie_file_name", "id"]
    assert fields[0] == {"name": "_hoodie_commit_time", "type": ["null", "string"], "doc": "", "default": None}


def test_meta_fields_are_not_put_in_twice() -> None:
    once = with_meta_fields(arrow_to_avro(pa.schema({"id": pa.int64()}), "t"))
    assert with_meta_fields(once) == once


def test_null_may_stand_last_in_a_union() -> None:
    avro = '{"type":"record","name":"r","fields":[{"name":"a","type":["int","null"]},{"name":"b","type":"int"}]}'
    assert avro_to_arrow(avro) == pa.schema([pa.field("a", pa.int32()), pa.field("b", pa.int32(), nullable=False)])


def test_named_type_may_be_used_again_by_name() -> None:
    inner = '{"type":"record","name":"p","namespace":"n","fields":[{"name":"x","type":"long"}]}'
    avro = f'{{"type":"record","name":"r","namespace":"n","fields":[{{"name":"a","type":{inner}}},{{"name":"b","type":"p"}}]}}'
    schema = avro_to_arrow(avro)
    assert schema.field("a").type == schema.field("b").type


def test_table_name_is_masked_where_avro_does_not_allow_it() -> None:
    assert json.loads(arrow_to_avro(pa.schema({"id": pa.int64()}), "my-t"))["name"] == "my__t_record"


def test_union_of_several_types_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedError, match="union"):
        avro_to_arrow('{"type":"record","name":"r","fields":[{"name":"a","type":["null","int","string"]}]}')


@pytest.mark.parametrize("text", ["", "{", "[]", '"string"', '{"type":"record"}', '{"type":"record","fields":[{}]}'])
def test_damaged_schema_is_a_corrupt_table(text: str) -> None:
    with pytest.raises(CorruptTableError):
        avro_to_arrow(text)


def test_column_name_that_avro_does_not_know_is_refused() -> None:
    with pytest.raises(SchemaError, match="'my column'"):
        arrow_to_avro(pa.schema({"my column": pa.int32()}), "t")

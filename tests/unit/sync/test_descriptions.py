"""How columns are described, and what of an entry has to change."""

from __future__ import annotations

import pyarrow as pa
import pytest

from pyhudi.errors import UnsupportedError
from pyhudi.sync.catalog_sync import CatalogColumn
from pyhudi.sync.catalog_types import hive_type, spark_type
from pyhudi.sync.entry_changes import merged_columns, same_location


@pytest.mark.parametrize(
    ("kind", "hive", "spark"),
    [
        (pa.int32(), "int", "integer"),
        (pa.int64(), "bigint", "long"),
        (pa.time32("ms"), "int", "integer"),
        (pa.time64("us"), "bigint", "long"),
        (pa.float32(), "float", "float"),
        (pa.float64(), "double", "double"),
        (pa.bool_(), "boolean", "boolean"),
        (pa.date32(), "date", "date"),
        (pa.string(), "string", "string"),
        (pa.binary(4), "binary", "binary"),
        (pa.decimal128(10, 2), "decimal(10,2)", "decimal(10,2)"),
        (pa.timestamp("us", tz="UTC"), "bigint", "timestamp"),
        (pa.timestamp("us"), "bigint", "timestamp_ntz"),
        (pa.list_(pa.string()), "array<string>", {"type": "array", "elementType": "string", "containsNull": True}),
        (
            pa.map_(pa.string(), pa.int64()),
            "map<string,bigint>",
            {"type": "map", "keyType": "string", "valueType": "long", "valueContainsNull": True},
        ),
    ],
)
def test_types(kind: pa.DataType, hive: str, spark: object) -> None:
    assert hive_type(kind, support_timestamp=False) == hive
    assert spark_type(kind) == spark


def test_a_timestamp_is_one_where_that_is_asked_for() -> None:
    assert hive_type(pa.struct({"A-b": pa.timestamp("us", tz="UTC")}), support_timestamp=True) == "struct<a_b:timestamp>"


def test_a_type_that_a_catalog_does_not_have_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="duration"):
        hive_type(pa.duration("s"), support_timestamp=False)


def test_columns_stay_in_the_order_of_the_catalog() -> None:
    known = [CatalogColumn("a", "int"), CatalogColumn("b", "string", "second"), CatalogColumn("c", "string")]
    described = [CatalogColumn("n", "date"), CatalogColumn("b", "string"), CatalogColumn("a", "bigint", "first")]
    assert merged_columns(known, described) == (
        CatalogColumn("a", "bigint", "first"),
        CatalogColumn("b", "string", "second"),
        CatalogColumn("n", "date"),
    )


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("file:/a/b", "/a/b", True),
        ("file:///a/b/", "file:/a/b", True),
        ("hdfs://one:8020/a", "hdfs://two/a", True),
        ("s3://bucket/a", "s3a://bucket/a", True),
        ("s3://bucket/a", "s3://other/a", False),
        ("/a/b", "/a/c", False),
    ],
)
def test_locations(one: str, other: str, same: bool) -> None:
    assert same_location(one, other) is same

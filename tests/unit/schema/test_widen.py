"""Which types widen a column, and which are cast to it: as Apache Hudi 1.2.0 was observed to do, for every pair of types."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi.errors import SchemaError
from pyhudi.schema.widen import widen_type

TYPES = {
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "decimal(10,2)": pa.decimal128(10, 2),
    "decimal(20,4)": pa.decimal128(20, 4),
    "boolean": pa.bool_(),
}
KINDS: dict[str, Callable[[pa.DataType], pa.DataType]] = {
    "column": lambda kind: kind,
    "struct": lambda kind: pa.struct({"a": kind}),
    "list": pa.list_,
    "map": lambda kind: pa.map_(pa.string(), kind),
}
#: What Apache Hudi answered: the type of the table afterwards, `refused`, or `value` where it took the type and failed for the value of
#: the test: a text that is no date, a number with too many digits.
RECORDED = list(csv.DictReader(Path(__file__).with_name("widening.tsv").read_text().splitlines(), delimiter="\t"))
#: pyhudi refuses what Apache Hudi takes for a count of microseconds.
DIFFERENT = {("long", "timestamp"): "refused"}


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda row: "-".join(row.values()))
def test_type_of_the_table_is_that_of_apache_hudi(recorded: dict[str, str]) -> None:
    table, data, kind = recorded["table"], recorded["data"], KINDS[recorded["in"]]
    expected = DIFFERENT.get((table, data), recorded["result"])
    if expected == "refused":
        with pytest.raises(SchemaError, match=r"Column 'c[.\w]*' has type"):
            widen_type(kind(TYPES[table]), kind(TYPES[data]), "c")
    else:
        result = widen_type(kind(TYPES[table]), kind(TYPES[data]), "c")
        assert result == kind(TYPES[table if expected == "value" else expected])


def test_every_pair_of_types_was_recorded() -> None:
    pairs = {(row["table"], row["data"]) for row in RECORDED if row["in"] == "column"}
    assert pairs == {(table, data) for table in TYPES for data in TYPES if table != data}

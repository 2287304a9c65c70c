"""A filter that cannot be computed for a row is the fault of whoever asks, not of a file."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from pyhudi import HudiTable
from pyhudi.errors import UsageError

SCHEMA = pa.schema({"id": pa.string(), "text": pa.string(), "part": pa.string(), "number": pa.int64()})
ROWS = pa.table({"id": ["1", "2"], "text": ["7", "abc"], "part": ["1", "abc"], "number": [1, 0]}, schema=SCHEMA)
FAILING = [
    pytest.param(pc.field("text").cast(pa.int64()) == 7, id="of a value"),
    pytest.param(pc.field("part").cast(pa.int64()) == 1, id="of a partition"),
    pytest.param(pc.divide(pc.scalar(1), pc.field("number")) == 1, id="by zero"),
]


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("partition_by", [(), ("part",)], ids=["whole", "partitioned"])
@pytest.mark.parametrize("condition", FAILING)
def test_it_is_a_usage_error_that_says_what_failed(
    tmp_path: Path, table_type: str, partition_by: tuple[str, ...], condition: pc.Expression
) -> None:
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=("id",), partition_by=partition_by, table_type=table_type)
    table.upsert(ROWS)
    table.upsert(ROWS.slice(0, 1))
    with pytest.raises(UsageError, match=r"cannot be computed for a row of the table: (Failed to parse string: 'abc'|divide by zero)"):
        table.to_arrow(filter=condition)
    with pytest.raises(UsageError, match="cannot be computed"):
        table.delete(where=condition)
    assert HudiTable.open(tmp_path / "t").count() == 2


def test_rows_that_other_parts_of_the_filter_rule_out_do_not_matter_where_their_file_is_not_read(tmp_path: Path) -> None:
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=("id",), partition_by=("part",))
    table.upsert(ROWS)
    condition = (pc.field("part") == "1") & (pc.field("text").cast(pa.int64()) == 7)
    assert table.to_arrow(filter=condition)["id"].to_pylist() == ["1"]

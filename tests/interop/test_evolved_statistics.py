"""Apache Hudi finds rows by our statistics, written before a column got its name or type of today."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.table.alter_table_schema import alter_schema
from pyhudi.write.input.alter_columns import AddColumn, DropColumn, RenameColumn, RetypeColumn
from tests.interop.reference import ReferenceHudi

OPTIONS = {"hoodie.schema.on.read.enable": "true", "hoodie.parquet.small.file.limit": "0"}
READ = {"hoodie.schema.on.read.enable": "true", "spark.sql.parquet.enableVectorizedReader": "false"}
SKIPPING = {"hoodie.metadata.enable": "true", "hoodie.enable.data.skipping": "true"}
SCHEMA = pa.schema({"id": pa.string(), "p": pa.string(), "i": pa.int32()})


@pytest.mark.parametrize("version", [9, pytest.param(8, marks=pytest.mark.slow)])
@pytest.mark.parametrize("partition_by", [["p"], pytest.param([], marks=pytest.mark.slow)], ids=["partitioned", "not_partitioned"])
def test_apache_hudi_finds_what_we_find(reference: ReferenceHudi, tmp_path: Path, version: int, partition_by: list[str]) -> None:
    changes = {
        "renamed": ([RenameColumn(("i",), "q")], {"q": 7}, {"q = 1": ["a"], "q = 7": ["c"], "q > 1": ["b", "c"]}),
        "to_text": ([RetypeColumn(("i",), pa.string())], {"i": "zz"}, {"i = '1'": ["a"], "i = 'zz'": ["c"]}),
        "reused": ([DropColumn(("i",)), AddColumn(("i",), pa.int32())], {"i": 9}, {"i = 9": ["c"], "i = 1": []}),
    }
    for name, (made, values, filters) in changes.items():
        path, sql_name = tmp_path / name, f"evolved_{version}_{name}_{len(partition_by)}"
        options = {"hoodie.write.table.version": str(version)}
        table = HudiTable.create(path, SCHEMA, name="t", keys=["id"], partition_by=partition_by, options=options)
        table.insert([{"id": "a", "p": "x", "i": 1}, {"id": "b", "p": "x", "i": 2}], options=OPTIONS)
        alter_schema(table, made, OPTIONS)  # type: ignore[arg-type]
        table.insert(pa.Table.from_pylist([{"id": "c", "p": "x", **values}], schema=table.schema), options=OPTIONS)  # type: ignore[dict-item]
        reference.sql(f"CREATE TABLE {sql_name} USING hudi LOCATION '{path}'")
        for text, expected in filters.items():
            result = reference.sql(f"SELECT id FROM {sql_name} WHERE {text} ORDER BY id", conf={**READ, **SKIPPING})
            assert (name, text, result.column("id").to_pylist()) == (name, text, expected)
            assert sorted(table.to_arrow(filter=text)["id"].to_pylist()) == expected

"""`pyhudi.write.readers=any`: files that readers without Zstandard and without Parquet blocks in log files read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pyhudi import HudiTable
from pyhudi.errors import OptionError

SCHEMA = pa.schema({"id": pa.int64(), "fare": pa.float64()})
ANY = {"pyhudi.write.readers": "any"}


def written(path: Path, options: Mapping[str, str]) -> tuple[set[str], set[str]]:
    """Write base files, log files and a compaction; return codecs of the base files and formats of the blocks."""
    table = HudiTable.create(path, SCHEMA, name="rides", keys=["id"], table_type="MERGE_ON_READ")
    table.upsert([{"id": 1, "fare": 1.0}], options)
    table.upsert([{"id": 1, "fare": 2.0}], options)
    blocks = {block["type"] for block in table.inspect.log_blocks("").to_pylist()}
    table.services.compact(options=options)
    files = [file for file in path.glob("*.parquet") if not file.name.startswith(".")]
    assert len(files) == 2
    return {pq.ParquetFile(file).metadata.row_group(0).column(5).compression for file in files}, blocks


@pytest.mark.parametrize(
    ("options", "codec", "block"),
    [
        ({}, "ZSTD", "PARQUET"),
        (ANY, "SNAPPY", "AVRO"),
        ({**ANY, "hoodie.parquet.compression.codec": "gzip"}, "GZIP", "AVRO"),
        ({**ANY, "hoodie.logfile.data.block.format": "parquet"}, "SNAPPY", "PARQUET"),
    ],
)
def test_codec_and_blocks(tmp_path: Path, options: dict[str, str], codec: str, block: str) -> None:
    assert written(tmp_path / "rides", options) == ({codec}, {block})


def test_other_values_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"pyhudi\.write\.readers"):
        written(tmp_path / "rides", {"pyhudi.write.readers": "hive"})

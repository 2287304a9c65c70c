"""A bootstrap with each key generator: later writes find the rows of its skeletons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pyhudi import HudiTable
from tests.bootstrapped import HIVE_STYLE, SELECTOR
from tests.slow_cases import slow_cases

MODES = ("MetadataOnly", "FullRecord")
DAYS = {
    "hoodie.keygen.timebased.timestamp.type": "UNIX_TIMESTAMP",
    "hoodie.keygen.timebased.output.dateformat": "yyyy-MM-dd",
    "hoodie.keygen.timebased.timezone": "UTC",
}


@dataclass(frozen=True)
class Case:
    """A key generator, the folder of the source file, and the record keys of its rows."""

    generator: str
    folder: str
    keys: tuple[str, ...]
    partition_by: tuple[str, ...]
    record_keys: tuple[str, str]
    options: Mapping[str, str] = field(default_factory=dict)


CASES = [
    Case("SimpleKeyGenerator", "oslo", ("id",), ("city",), ("1", "2")),
    Case("SimpleKeyGenerator", "city=oslo", ("id",), ("city",), ("1", "2"), HIVE_STYLE),
    Case("ComplexKeyGenerator", "oslo/x", ("id", "sub"), ("city", "sub"), ("id:1,sub:x", "id:2,sub:x")),
    Case("ComplexKeyGenerator", "oslo/x", ("id",), ("city", "sub"), ("id:1", "id:2")),
    Case("NonpartitionedKeyGenerator", "", ("id",), (), ("1", "2")),
    Case("GlobalDeleteKeyGenerator", "", ("id",), (), ("id:1", "id:2")),
    Case("TimestampBasedKeyGenerator", "2026-01-01", ("id",), ("ts",), ("1", "2"), DAYS),
    Case("CustomKeyGenerator", "oslo/x", ("id",), ("city:SIMPLE", "sub:SIMPLE"), ("1", "2")),
    Case("CustomKeyGenerator", "2026-01-01", ("id",), ("ts:TIMESTAMP",), ("1", "2"), DAYS),
]
BOTH = [(mode, case) for mode in MODES for case in CASES]


@pytest.mark.parametrize("both", slow_cases(BOTH, BOTH[len(CASES) :]), ids=lambda both: f"{both[0]}-{both[1].generator}")
def test_later_writes_find_the_rows(tmp_path: Path, both: tuple[str, Case]) -> None:
    mode, case = both
    source = tmp_path / "plain" / case.folder
    source.mkdir(parents=True)
    rows: dict[str, list[object]] = {"id": ["1", "2"], "sub": ["x"] * 2, "city": ["oslo"] * 2, "ts": [1767225600] * 2, "v": [1.0, 2.0]}
    pq.write_table(pa.table(rows), source / "a.parquet")
    options = {"hoodie.bootstrap.keygen.class": f"org.apache.hudi.keygen.{case.generator}", SELECTOR: f"{mode}BootstrapModeSelector"}
    HudiTable.bootstrap(
        tmp_path / "t", tmp_path / "plain", name="t", keys=case.keys, partition_by=case.partition_by, options={**case.options, **options}
    )
    HudiTable.open(tmp_path / "t").upsert([{name: values[0] for name, values in rows.items()} | {"v": 9.0}])
    read = HudiTable.open(tmp_path / "t").to_arrow(meta_columns=True).sort_by("_hoodie_record_key")
    assert list(zip(read["_hoodie_record_key"].to_pylist(), read["v"].to_pylist(), strict=True)) == [
        (case.record_keys[0], 9.0),
        (case.record_keys[1], 2.0),
    ]
    assert set(read["_hoodie_partition_path"].to_pylist()) == {case.folder}

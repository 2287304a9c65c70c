"""hudi-rs, another reader, merges the log files of merge-on-read tables that pyhudi wrote to the same rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hudi import HudiTableBuilder

from pyhudi.table.hudi_table import HudiTable
from tests.slow_cases import slow_cases
from tests.unit.table.tables import SCHEMA, ride

#: Options of the writes: pyhudi's own blocks of log files, and those that any reader knows.
WRITES: dict[str, dict[str, str]] = {"of its own": {}, "any reader": {"pyhudi.write.readers": "any"}}
ORDERINGS: dict[str, list[str]] = {"of events": ["at"], "of commits": []}
CASES = [
    (version, writes, ordering, partitioned)
    for version in "689"
    for writes in WRITES
    for ordering in ORDERINGS
    for partitioned in (True, False)
]
FAST = {("9", "of its own", "of events", True), ("8", "any reader", "of commits", False), ("6", "of its own", "of events", False)}


def assert_both_agree(path: Path) -> None:
    """Meta columns too, but the name of the file: of a merged row the readers name other ones."""
    columns = ["_hoodie_commit_time", "_hoodie_record_key", *SCHEMA.names]
    theirs = pa.Table.from_batches(HudiTableBuilder.from_base_uri(str(path)).build().read()).select(columns)
    ours = HudiTable.open(path).to_arrow(columns=columns)
    assert theirs.sort_by("id").to_pylist() == ours.sort_by("id").to_pylist()


@pytest.mark.parametrize("case", slow_cases(CASES, set(CASES) - FAST))
def test_hudi_rs_merges_the_same_rows_after_every_operation(tmp_path: Path, case: tuple[str, str, str, bool]) -> None:
    version, writes, ordering, partitioned = case
    options, path = WRITES[writes], tmp_path / "rides"
    table = HudiTable.create(
        path,
        SCHEMA,
        name="rides",
        keys=["id"],
        partition_by=["city"] if partitioned else [],
        order_by=ORDERINGS[ordering],
        table_type="MERGE_ON_READ",
        options={"hoodie.write.table.version": version},
    )
    table.insert([home(n, n, at=5) for n in range(12)], options=options)
    table.upsert([home(1, 10, at=6), home(2, 20, at=4), home(20, 7, at=5)], options=options)
    assert list(path.rglob("*.log.*"))
    assert_both_agree(path)
    table.delete([home(3, 0, at=7)], options=options)
    table.delete(where="id in (0, 20)", options=options)
    assert_both_agree(path)
    table.upsert([home(1, 11, at=8), home(3, 30, at=9)], options=options)
    assert_both_agree(path)
    table.services.compact(options=options)
    table.upsert([home(5, 50, at=6), home(6, 60, at=1)], options=options)
    assert_both_agree(path)
    table.services.cluster(options=options)
    table.delete([home(7, 0, at=6)], options=options)
    assert_both_agree(path)


def home(number: int, value: int, at: int) -> dict[str, Any]:
    """A ride, always of one city."""
    return ride(number, ("oslo", "rome")[number % 2], value, at)

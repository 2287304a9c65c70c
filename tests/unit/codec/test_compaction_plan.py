"""Plans of compactions: what Apache Hudi wrote comes out byte for byte when it is read and written again."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyhudi.codec.actions.plan_codec import decode_compaction_plan, encode_compaction_plan
from pyhudi.codec.avro.avro_container import decode_container
from pyhudi.spec.actions.compaction import CompactionOperation, CompactionPlan

PENDING = [f"apache_hudi/merge_on_read_{kind}_v{version}" for kind in ("pending_compaction", "log_compacted") for version in (6, 8, 9)]


def plan_files(table: Path) -> list[Path]:
    return sorted(path for path in table.glob(".hoodie/**/*compaction.requested") if not path.name.startswith("."))


@pytest.mark.parametrize("name", PENDING)
def test_plan_of_apache_hudi_is_encoded_byte_for_byte(fixture_table, name) -> None:
    files = plan_files(fixture_table(name))
    assert files
    for file in files:
        data = file.read_bytes()
        assert encode_compaction_plan(decode_compaction_plan(data), sync=decode_container(data).sync) == data


def test_plan_without_anything_survives() -> None:
    plan = CompactionPlan(None, preserve_meta_columns=False)
    assert decode_compaction_plan(encode_compaction_plan(plan, sync=bytes(16))) == plan


def test_slice_without_base_file_survives() -> None:
    operation = CompactionOperation("20260101000000000", "a-0", "", None, (".a-0_20260101000000000.log.1_0-0-0",), {"TOTAL_LOG_FILES": 1.0})
    plan = CompactionPlan((operation,), extra_metadata={}, preserve_meta_columns=False, missing_partitions=("x",))
    assert decode_compaction_plan(encode_compaction_plan(plan, sync=bytes(16))) == plan

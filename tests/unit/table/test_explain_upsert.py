"""`table.inspect.inspect_table.explain_upsert`: what an upsert would do, without doing it."""

from __future__ import annotations

import pytest

from pyhudi.errors import OptionError
from pyhudi.storage.memory_storage import MemoryStorage
from tests.unit.table.tables import files_of, make_table, ride


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("index", ["SIMPLE", "BLOOM", "GLOBAL_BLOOM", "BUCKET"])
def test_explanation_tells_what_the_upsert_then_does_and_writes_nothing(table_type: str, index: str) -> None:
    storage = MemoryStorage()
    table = make_table(storage, partition_by=["city"], table_type=table_type)
    options = {"hoodie.index.type": index, "hoodie.parquet.small.file.limit": "0"}
    options |= {"hoodie.bucket.index.num.buckets": "2"} if index == "BUCKET" else {}
    table.upsert([ride(n) for n in range(9)], options=options)
    before = files_of(storage)
    rows = [ride(n) for n in range(5, 9)] + [ride(20, "rome")]
    recorded = table.inspect.explain_upsert(rows, options=options)
    assert files_of(storage) == before
    assert (recorded.index, recorded.reason) == (index, "hoodie.index.type names it")
    assert (recorded.existing, recorded.new, recorded.late_dropped) == (4, 1, 0)
    done = table.upsert(rows, options=options)
    assert (done.index, done.index_reason, done.files_written) == (recorded.index, recorded.reason, recorded.files.num_rows)
    kinds = {(row["partition_path"], row["kind"]) for row in recorded.files.to_pylist()}
    assert kinds == {("oslo", "rewritten" if table_type == "COPY_ON_WRITE" else "appended"), ("rome", "new")}
    assert f"asks the index {index}" in str(recorded)


def test_choice_that_nobody_named_gives_its_reason() -> None:
    table = make_table()
    table.upsert([ride(1)])
    recorded = table.inspect.explain_upsert([ride(1), ride(2)])
    assert recorded.index == "SIMPLE"
    assert recorded.reason == (
        "the table has no record index, and its file groups are no buckets; 2 keys against 1 base files of 0 MiB:"
        " reading keys is cheaper than asking filters"
    )


def test_options_are_checked_as_those_of_a_write() -> None:
    with pytest.raises(OptionError, match=r"hoodie\.index\.type=SIMPEL is not possible"):
        make_table().inspect.explain_upsert([ride(1)], options={"hoodie.index.type": "SIMPEL"})

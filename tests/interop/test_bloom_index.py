"""Apache Hudi's BLOOM index finds the keys of base files that pyhudi wrote: bloom filter and key range are true."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from pyhudi import HudiTable
from tests.interop.kinds import Kind, assert_both_read
from tests.interop.reference import ReferenceHudi

BLOOM = {"hoodie.index.type": "BLOOM"}


def keyed(numbers: range, value: int) -> pa.Table:
    keys = [f"key-{number:05}-ü{number}" for number in numbers]
    return pa.table({"id": keys, "n": pa.array([value] * len(keys), pa.int64())})


def test_apache_hudi_updates_by_bloom_index_what_pyhudi_wrote(reference: ReferenceHudi, tmp_path: Path) -> None:
    kind = Kind("bloom", partition_by=())
    rows = keyed(range(3000), 0)
    table = kind.create(tmp_path / "t", rows.schema)
    table.insert(rows.slice(0, 2000))
    # The second commit rewrites the file: its filter is the old one with the new keys added.
    table.upsert(pa.concat_tables([rows.slice(2000), keyed(range(100), 1)]))
    reference.write(tmp_path / "t", keyed(range(0, 4000, 7), 2), "append", kind.reference_options("upsert") | BLOOM)
    expected = {row["id"]: row for row in rows.to_pylist()}
    expected |= {row["id"]: row for row in keyed(range(100), 1).to_pylist()}
    expected |= {row["id"]: row for row in keyed(range(0, 4000, 7), 2).to_pylist()}
    # A key that was not found would be there twice.
    assert_both_read(reference, tmp_path / "t", [expected[key] for key in sorted(expected)])
    HudiTable.open(tmp_path / "t").delete(keyed(range(0, 4000, 2), 0))
    reference.write(tmp_path / "t", keyed(range(1, 50), 3), "append", kind.reference_options("upsert") | BLOOM)
    expected = {key: row for key, row in expected.items() if int(key[4:9]) % 2}
    expected |= {row["id"]: row for row in keyed(range(1, 50), 3).to_pylist()}
    assert_both_read(reference, tmp_path / "t", [expected[key] for key in sorted(expected)])


def test_keys_beyond_the_first_plane_are_in_the_range_that_apache_hudi_compares(reference: ReferenceHudi, tmp_path: Path) -> None:
    # By bytes of UTF-8 the first key is less than the second, by Java's order greater.
    rows = pa.table({"id": ["\uffee", "𝄞", "a"], "n": [1, 2, 3]})
    kind = Kind("bloom", partition_by=())
    kind.create(tmp_path / "t", rows.schema).insert(rows)
    reference.write(tmp_path / "t", rows, "append", kind.reference_options("upsert") | BLOOM)
    assert_both_read(reference, tmp_path / "t", rows.sort_by("id").to_pylist())
    HudiTable.open(tmp_path / "t").upsert(rows)
    assert_both_read(reference, tmp_path / "t", rows.sort_by("id").to_pylist())


def test_filters_that_grew_with_their_file_are_read_and_kept_in_the_metadata_table(reference: ReferenceHudi, tmp_path: Path) -> None:
    """Sized for 512 keys, then 2,048, then 8,192; what the metadata table says of the files is the same."""
    kind = Kind("bloom", partition_by=())
    rows = keyed(range(3000), 0)
    table = kind.create(tmp_path / "t", rows.schema)
    retained = {"hoodie.metadata.index.bloom.filter.enable": "true"}
    expected: dict[str, dict[str, Any]] = {}
    for turn, (first, past) in enumerate([(0, 50), (50, 600), (600, 3000)]):
        table.upsert(rows.slice(first, past - first), options=retained)
        theirs = keyed(range(0, past, 3), turn + 1)
        reference.write(
            tmp_path / "t", theirs, "append", kind.reference_options("upsert") | BLOOM | retained | {"hoodie.metadata.enable": "true"}
        )
        expected |= {row["id"]: row for row in [*rows.slice(first, past - first).to_pylist(), *theirs.to_pylist()]}
        assert_both_read(reference, tmp_path / "t", [expected[key] for key in sorted(expected)])
        assert table.inspect.health().to_pylist() == []
        ours = keyed(range(0, past, 5), turn + 10)
        result = HudiTable.open(tmp_path / "t").upsert(ours, options=BLOOM | retained)
        assert (result.inserted, result.updated) == (0, ours.num_rows)
        expected |= {row["id"]: row for row in ours.to_pylist()}
        assert_both_read(reference, tmp_path / "t", [expected[key] for key in sorted(expected)])

"""BUCKET: a hash of the key says the file group, of new records too; numbers and file ids are those of Apache Hudi."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyhudi.errors import CorruptTableError, OptionError, UnsupportedError
from pyhudi.index.bucket_numbers import CountRules, bucket_of, parse_expressions
from pyhudi.index.consistent_hashing import first_hashing_metadata
from pyhudi.kernels.arrays.bucket_hash import consistent_hashes, hash_values, list_hashes, string_hashes
from pyhudi.spec.actions.commit import Operation
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.table.write_table import write
from tests.unit.table.tables import make_table, ride, rows_of

BUCKET = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "4"}
CONSISTENT_HASHING = {**BUCKET, "hoodie.index.bucket.engine": "CONSISTENT_HASHING"}
TYPES = ["COPY_ON_WRITE", "MERGE_ON_READ"]


def java_hash(text: str) -> int:
    units = text.encode("utf-16-le")
    value = 0
    for at in range(0, len(units), 2):
        value = (31 * value + int.from_bytes(units[at : at + 2], "little")) % (1 << 32)
    return value


def buckets(table) -> dict[tuple[str, int | None], set[str]]:
    """Record keys by partition and bucket, as the file names say it."""
    rows, result = table.to_arrow(meta_columns=True).to_pylist(), {}  # type: ignore[var-annotated]
    for row in rows:
        index = (row["_hoodie_partition_path"], bucket_of(row["_hoodie_file_name"]))
        result.setdefault(index, set()).add(row["_hoodie_record_key"])
    return result


@settings(max_examples=25)
@given(st.lists(st.text(st.characters(codec="utf-8")), min_size=1, max_size=20))
def test_text_hash_is_java_s(strings) -> None:
    assert string_hashes(pa.array(strings)).tolist() == [java_hash(text) for text in strings]


def test_list_hash_is_the_jvm_s() -> None:
    assert (list_hashes(pa.array(["id1", "TXN-001", "é中"]), ["id"]) % 256).tolist() == [149, 77, 131]
    assert list_hashes(pa.array(["id:TXN-001,account:ACC-A"]), ["id", "account"]).tolist() == [-798673112 & 0x7FFFFFFF]


def test_consistent_hash_is_xxh32() -> None:
    assert consistent_hashes(pa.array(["abc", ""]), ["id"]).tolist() == [0x32D153FF & 0x7FFFFFFF, 0x02CC5D05 & 0x7FFFFFFF]


@pytest.mark.parametrize(
    ("key", "fields", "values"),
    [
        ("id:1", ["id"], ("id:1",)),
        ("a,b", ["id"], ("a,b",)),
        ("a:1,b:2", ["b"], ("2",)),
        ("a:1,b:2", ["c"], ("a:1,b:2",)),
        ("a:x,y,b:10:30:00,c:__null__,d:__empty__", ["a", "b", "c", "d"], ("x,y", "10:30:00", None, "")),
    ],
)
def test_hash_values_are_taken_from_the_text_of_the_key(key, fields, values) -> None:
    assert hash_values(key, fields) == values


def test_first_hashing_metadata_has_the_ranges_and_file_ids_of_apache_hudi() -> None:
    hashing = first_hashing_metadata("region=us", 4)
    assert hashing.values == (536870912, 1073741824, 1610612736, 2147483647)
    assert hashing.prefixes[0] == "7592fe24-ff3e-364f-8d49-124e22c1c45b"


@pytest.mark.parametrize("table_type", TYPES)
def test_every_record_is_in_the_file_group_of_its_bucket(table_type) -> None:
    table = make_table(partition_by=["city"], table_type=table_type)
    table.upsert([ride(n, "oslo" if n % 2 else "rome") for n in range(40)], options=BUCKET)
    for (_, bucket), keys in buckets(table).items():
        assert {(31 + java_hash(key)) % (1 << 31) % 4 for key in keys} == {bucket}
    assert len(buckets(table)) == len(table.inspect.slices()) == 8


@pytest.mark.parametrize("options", [BUCKET, CONSISTENT_HASHING], ids=["simple", "consistent"])
@pytest.mark.parametrize("table_type", TYPES)
def test_updates_inserts_and_deletes_meet_in_the_bucket(table_type, options) -> None:
    if options is CONSISTENT_HASHING and table_type == "COPY_ON_WRITE":
        return
    table = make_table(table_type=table_type)
    table.upsert([ride(n) for n in range(20)], options=options)
    table.upsert([ride(n, value=1) for n in range(15, 30)], options=options)
    table.insert([ride(40)], options=options)
    table.bulk_insert([ride(41)], options=options)
    table.delete([ride(3), ride(99)], options=options)
    expected = {n: 1 if n >= 15 else 0 for n in range(30) if n != 3} | {40: 0, 41: 0}
    assert {row["id"]: row["value"] for row in rows_of(table)} == expected
    assert len(rows_of(table)) == len(expected)
    assert table.inspect.slices().filter(pa.compute.field("latest")).num_rows == 4
    assert table.inspect.health().num_rows == 0


def test_insert_into_a_merge_on_read_bucket_replaces_the_record_of_its_key() -> None:
    table = make_table(table_type="MERGE_ON_READ")
    table.insert([ride(1), ride(2), ride(1, value=1)], options=BUCKET)
    table.insert([ride(1, value=5)], options=BUCKET)
    assert rows_of(table) == [ride(1, value=5), ride(2)]


def test_insert_into_a_copy_on_write_bucket_keeps_both_rows_of_a_key() -> None:
    table = make_table()
    table.insert([ride(1), ride(2)], options=BUCKET)
    table.insert([ride(1, value=5)], options=BUCKET)
    assert rows_of(table) == [ride(1), ride(1, value=5), ride(2)]


@pytest.mark.parametrize("table_type", TYPES)
def test_overwrite_begins_the_buckets_again(table_type) -> None:
    table = make_table(table_type=table_type)
    table.upsert([ride(n) for n in range(20)], options=BUCKET)
    table.overwrite([ride(n, value=2) for n in range(5)], options=BUCKET)
    table.upsert([ride(n, value=3) for n in range(3)], options=BUCKET)
    assert [row["value"] for row in rows_of(table)] == [3, 3, 3, 2, 2]


def test_rows_marked_deleted_open_no_bucket() -> None:
    table = make_table()
    table.upsert([{**ride(n), "_hoodie_is_deleted": n > 0} for n in range(20)], options=BUCKET)
    assert [row["id"] for row in rows_of(table)] == [0]
    assert len(table.inspect.slices()) == 1


def test_known_keys_are_left_out_of_an_insert_that_drops_duplicates() -> None:
    table = make_table()
    table.upsert([ride(n) for n in range(5)], options=BUCKET)
    table.insert([ride(4, value=1), ride(5, value=1)], options={**BUCKET, "hoodie.datasource.write.insert.drop.duplicates": "true"})
    assert [(row["id"], row["value"]) for row in rows_of(table)] == [(0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (5, 1)]


def test_located_row_that_moves_goes_to_its_bucket_in_the_other_partition() -> None:
    table = make_table(partition_by=["city"])
    table.upsert([ride(n) for n in range(8)], options=BUCKET)
    read = table.to_arrow(meta_columns=True).to_pylist()
    moving = [{**row, "city": "rome"} for row in read]
    write(table, Operation.UPSERT_PREPPED, pa.Table.from_pylist(moving), prepped=True)
    assert {row["city"] for row in rows_of(table)} == {"rome"}
    assert {bucket for path, bucket in buckets(table) if path == "rome"} <= {0, 1, 2, 3}


def test_table_of_buckets_is_written_by_buckets_without_being_told() -> None:
    table = make_table(table_type="MERGE_ON_READ")
    table.upsert([ride(n) for n in range(60)], options={**BUCKET, "hoodie.bucket.index.num.buckets": "6"})
    result = table.upsert([ride(n, value=1) for n in range(50, 70)])
    assert (result.index, result.index_reason) == ("BUCKET", "the file groups of the table are buckets")
    assert {bucket for _, bucket in buckets(table)} == {0, 1, 2, 3, 4, 5}
    assert len(rows_of(table)) == 70


def test_number_of_buckets_that_too_few_keys_leave_open_has_to_be_given() -> None:
    table = make_table()
    table.upsert([ride(1)], options=BUCKET)
    table.delete(where="id = 7")  # places no row: the number does not matter
    with pytest.raises(OptionError, match=r"set hoodie\.bucket\.index\.num\.buckets"):
        table.upsert([ride(2)])
    assert table.upsert([ride(2)], options=BUCKET).index == "BUCKET"


@pytest.mark.parametrize("count", ["2", "3", "5", "8"])
def test_another_number_of_buckets_than_the_table_s_is_refused(count) -> None:
    table = make_table()
    table.upsert([ride(n) for n in range(40)], options=BUCKET)
    with pytest.raises(OptionError, match="contradict table rides"):
        table.upsert([ride(1)], options={**BUCKET, "hoodie.bucket.index.num.buckets": count})
    assert len(table.history()) == 1


def test_index_that_is_not_the_layout_s_is_refused_either_way() -> None:
    table = make_table()
    table.upsert([ride(n) for n in range(40)], options=BUCKET)
    with pytest.raises(OptionError, match="whose file groups are buckets"):
        table.upsert([ride(1)], options={"hoodie.index.type": "SIMPLE"})
    other = make_table()
    other.upsert([ride(1)])
    with pytest.raises(OptionError, match="whose file groups are no buckets"):
        other.upsert([ride(1)], options=BUCKET)


def test_partitions_have_the_numbers_of_buckets_that_expressions_say() -> None:
    storage = MemoryStorage()
    table = make_table(storage, partition_by=["city"])
    table.upsert(
        [ride(n, "oslo" if n % 2 else "rome") for n in range(60)],
        options={**BUCKET, "hoodie.bucket.index.partition.expressions": "^os,2;r.me,3"},
    )
    counts = {path: sum(index[0] == path for index in buckets(table)) for path in ("oslo", "rome")}
    assert counts == {"oslo": 2, "rome": 3}
    stored = json.loads(
        storage.read(".hoodie/.bucket_index/partition_bucket_index_meta/configs/00000000000000000.hashing_config", max_bytes=9999)
    )
    assert (stored["expressions"], stored["defaultBucketNumber"], stored["rule"]) == ("^os,2;r.me,3", 4, "regex")
    assert table.upsert([ride(1, "oslo", value=7)]).index == "BUCKET"
    assert len(rows_of(table)) == 60


def test_expressions_are_checked_before_anything_is_written() -> None:
    assert CountRules(4, parse_expressions("a,2; b,3", "x")).count("zb") == 3
    for text in ("a", "a,0", "a,x", "(,2"):
        with pytest.raises(OptionError):
            parse_expressions(text, "x")


def test_hashing_metadata_is_written_with_the_first_rows_and_followed_after_a_resizing() -> None:
    storage = MemoryStorage()
    table = make_table(storage, table_type="MERGE_ON_READ")
    table.upsert([ride(1)], options=CONSISTENT_HASHING)
    folder = ".hoodie/.bucket_index/consistent_hashing_metadata"
    hashing = json.loads(storage.read(f"{folder}/00000000000000.hashing_meta", max_bytes=9999))
    assert (hashing["numBuckets"], hashing["seqNo"], hashing["partitionPath"]) == (4, 0, "")
    file_id = table.inspect.slices()["file_id"][0].as_py()
    assert file_id in {f"{node['fileIdPrefix']}-0" for node in hashing["nodes"]}
    merged = {
        **hashing,
        "instant": "20260101000000000",
        "seqNo": 1,
        "nodes": [{"value": 2147483647, "fileIdPrefix": file_id[:-2], "tag": "NORMAL"}],
    }
    storage.create(f"{folder}/20260101000000000.hashing_meta", json.dumps(merged).encode())
    storage.create(f"{folder}/20260101000000000.commit", b"")
    result = table.upsert([ride(n, value=1) for n in range(9)])
    assert result.index == "BUCKET"
    assert set(table.inspect.slices()["file_id"].to_pylist()) == {file_id}
    assert len(rows_of(table)) == 9


def test_nothing_is_replaced_where_hashing_metadata_names_the_file_groups() -> None:
    table = make_table(partition_by=["city"], table_type="MERGE_ON_READ")
    table.upsert([ride(n) for n in range(9)], options=CONSISTENT_HASHING)
    commits = len(table.history())
    for replace in (lambda: table.overwrite([ride(1)], options=CONSISTENT_HASHING), lambda: table.overwrite([ride(1)])):
        with pytest.raises(UnsupportedError, match="consistent hashing names file groups"):
            replace()
    with pytest.raises(UnsupportedError, match="DELETE_PARTITION"):
        write(table, Operation.DELETE_PARTITION, None, partitions=["oslo"])
    assert len(table.history()) == commits
    assert len(rows_of(table)) == 9


def test_replaced_bucket_of_consistent_hashing_is_not_written_to(monkeypatch: pytest.MonkeyPatch) -> None:
    table = make_table(table_type="MERGE_ON_READ")
    table.upsert([ride(n) for n in range(9)], options=CONSISTENT_HASHING)
    monkeypatch.setattr("pyhudi.write.pipeline.write_stage.check_replacing", lambda *_: None)  # as a writer that replaces all the same
    write(table, Operation.INSERT_OVERWRITE_TABLE, [], options=CONSISTENT_HASHING)
    with pytest.raises(UnsupportedError, match="was replaced"):
        table.upsert([ride(n) for n in range(9)], options=CONSISTENT_HASHING)


def test_damaged_hashing_metadata_is_named() -> None:
    storage = MemoryStorage()
    table = make_table(storage, table_type="MERGE_ON_READ")
    storage.create(".hoodie/.bucket_index/consistent_hashing_metadata/00000000000000.hashing_meta", b'{"nodes": [{"value": 1}]}')
    with pytest.raises(CorruptTableError, match=r"00000000000000\.hashing_meta"):
        table.upsert([ride(1)], options=CONSISTENT_HASHING)


def test_consistent_hashing_needs_merge_on_read() -> None:
    with pytest.raises(UnsupportedError, match="CONSISTENT_HASHING"):
        make_table().upsert([ride(1)], options=CONSISTENT_HASHING)


def test_hash_fields_are_key_fields() -> None:
    with pytest.raises(OptionError, match=r"hoodie\.bucket\.index\.hash\.field names 'city'"):
        make_table().upsert([ride(1)], options={**BUCKET, "hoodie.bucket.index.hash.field": "city"})


def test_some_key_fields_alone_can_say_the_bucket() -> None:
    table = make_table(keys=["id", "city"])
    options = {**BUCKET, "hoodie.bucket.index.hash.field": "city"}
    table.upsert([ride(n, city) for n in range(5) for city in ("oslo", "rome")], options=options)
    by_city = {row["city"]: bucket_of(row["_hoodie_file_name"]) for row in table.to_arrow(meta_columns=True).to_pylist()}
    assert by_city == {city: (31 + java_hash(city)) % (1 << 31) % 4 for city in ("oslo", "rome")}

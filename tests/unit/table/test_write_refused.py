"""Bad input to a write: one clear error, and not a file more than before."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from pyhudi.codec.avro.avro_record import encode_record
from pyhudi.errors import CorruptTableError, HudiError, KeyFieldError, OptionError, SchemaError, UnsupportedError, UsageError
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.table_properties import load_properties, store_properties
from pyhudi.table.hudi_table import HudiTable
from pyhudi.timeline.clock import SystemClock
from tests.unit.table.tables import files_of, make_table, ride


def refused(table: HudiTable, write) -> HudiError:
    """Return the error of a refused write once it is sure that nothing was written."""
    before = files_of(table.storage)
    with pytest.raises(HudiError) as caught:
        write(table)
    assert files_of(table.storage) == before
    return caught.value


@pytest.mark.parametrize(
    ("data", "kind", "says"),
    [
        ([{**ride(1), "id": None}], KeyFieldError, "id"),
        ([{"city": "oslo", "value": 1}], KeyFieldError, "lack the column 'id', a record key field of table rides"),
        ([{"id": 1, "value": 1}], KeyFieldError, "lack the column 'city', a partition field"),
        ([ride(1, "../../x")], KeyFieldError, r"\.\."),
        ([ride(1, "/etc")], KeyFieldError, "absolute"),
        ([ride(1, ".hoodie")], KeyFieldError, "hoodie"),
        ([{**ride(1), "value": b"many"}], SchemaError, "'value'"),
        ([{**ride(1), "value": True}], SchemaError, "'value'"),
        ([{**ride(1), "new": 1, "NEW": 2}], SchemaError, "'new'"),
        (pa.table([[1], ["oslo"], [1], [1], [1]], names=["id", "city", "city", "value", "at"]), SchemaError, "'city'"),
        (pa.table({"id": [1], "city": ["oslo"], "value": [1], "at": [1], "t": pa.array([1], pa.duration("s"))}), SchemaError, "'t'"),
        ([{**ride(1), "empty": None}], SchemaError, "'empty'"),
        ([{**ride(1), "city": ["a", 1]}], SchemaError, "'city'"),
        ([{**ride(1), "_hoodie_score": 1}], SchemaError, "'_hoodie_score' has a reserved name"),
        ([{**ride(1), "_HOODIE_RECORD_KEY": "1"}], SchemaError, "'_HOODIE_RECORD_KEY' has a reserved name"),
        ([{**ride(1), "_pyhudi_delete": True}], SchemaError, "'_pyhudi_delete' has a reserved name"),
        (None, UsageError, "upsert\\(\\) needs data"),
        ("id,city", UsageError, "There is no file .id,city."),
        (17, UsageError, "builtins.int"),
    ],
)
def test_data_that_do_not_fit_are_refused(data, kind, says) -> None:
    table = make_table(partition_by=["city"])
    table.upsert([ride(1)])
    error = refused(table, lambda table: table.upsert(data))
    assert isinstance(error, kind)
    assert pytest.raises(kind, match=says).matches(error)


@pytest.mark.parametrize(
    ("options", "kind", "says"),
    [
        ({"hoodie.upsert.shufle.parallelism": "2", "pyhudi.options.unknown": "refuse"}, OptionError, "shuffle"),
        ({"hoodie.parquet.max.file.size": "big"}, OptionError, "whole number|number"),
        ({"hoodie.index.type": "HBASE"}, UnsupportedError, "HBase cluster"),
        ({"hoodie.index.type": "SIMPEL"}, OptionError, "Did you mean 'SIMPLE'"),
        ({"hoodie.datasource.write.recordkey.field": "city"}, OptionError, "hoodie.table.recordkey.fields=id"),
        ({"hoodie.datasource.write.partitionpath.field": "value"}, OptionError, "hoodie.table.partition.fields=city"),
        ({"hoodie.datasource.write.precombine.field": "value"}, OptionError, "hoodie.table.ordering.fields=at"),
        ({"hoodie.datasource.write.table.type": "MERGE_ON_READ"}, OptionError, "hoodie.table.type=COPY_ON_WRITE"),
        ({"hoodie.datasource.write.hive_style_partitioning": "true"}, OptionError, "hive_style_partitioning=false"),
        ({"hoodie.write.table.version": "8"}, OptionError, "hoodie.table.version=9"),
        ({"hoodie.datasource.write.operation": "delete"}, OptionError, "contradicts the method, which is upsert"),
    ],
)
def test_options_that_are_unknown_or_contradict_the_table_are_refused(options, kind, says) -> None:
    table = make_table(partition_by=["city"], order_by=["at"])
    error = refused(table, lambda table: table.upsert([ride(1)], options=options))
    assert isinstance(error, kind)
    assert pytest.raises(kind, match=says).matches(error)


def test_options_that_agree_with_the_table_are_taken() -> None:
    table = make_table(partition_by=["city"], order_by=["at"])
    options = {
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": "city",
        "hoodie.table.precombine.field": "at",
        "type": "cow",
    }
    assert table.upsert([ride(1)], options=options).inserted == 1


def test_ordering_field_that_the_data_lack_is_named() -> None:
    table = make_table(order_by=["at"])
    error = refused(table, lambda table: table.upsert([{"id": 1, "value": 3}]))
    assert pytest.raises(KeyFieldError, match="'at', an ordering field").matches(error)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("hoodie.datasource.write.slash.separated.date.partitioning", "true"),
        ("hoodie.table.of.the.future", "yes"),
    ],
)
def test_table_with_a_feature_that_is_not_served_is_refused_by_name(name, value) -> None:
    table = make_table()
    store_properties(table.storage, {name: value}, SystemClock().now())
    error = refused(table, lambda table: table.upsert([ride(1)]))
    assert pytest.raises(UnsupportedError, match=name).matches(error)


def test_pending_clustering_of_another_writer_is_refused_by_name() -> None:
    table = make_table()
    table.upsert([ride(1)])
    table.storage.create(".hoodie/timeline/29990101000000000.clustering.requested", b"")
    error = refused(table, lambda table: table.upsert([ride(2)]))
    assert pytest.raises(CorruptTableError, match=r"plan of clustering 29990101000000000 .* is damaged").matches(error)


def test_properties_that_lost_a_byte_are_refused() -> None:
    storage = MemoryStorage()
    table = make_table(storage)
    whole = storage.read(".hoodie/hoodie.properties")
    storage.replace(".hoodie/hoodie.properties", whole.replace(b"hoodie.table.name=rides", b"hoodie.table.name=ride"))
    refused(table, lambda table: table.upsert([ride(1)]))
    storage.replace(".hoodie/hoodie.properties", whole)
    assert load_properties(storage)["hoodie.table.name"] == "rides"


def test_truncated_base_file_stops_an_upsert_before_it_begins() -> None:
    table = make_table()
    table.upsert([ride(1)])
    (path,) = table.inspect.files()["path"].to_pylist()
    table.storage.replace(path, table.storage.read(path)[:-100])
    error = refused(table, lambda table: table.upsert([ride(1)]))
    assert path in str(error)


def test_a_nested_key_field_that_the_data_lack_is_named() -> None:
    schema = pa.schema({"id": pa.int64(), "at": pa.struct({"place": pa.string(), "hour": pa.int64()})})
    table = make_table(schema=schema, keys=["at.place"])
    error = refused(table, lambda table: table.upsert(pa.table({"id": [1], "at": pa.array([{"hour": 1}])})))
    assert isinstance(error, KeyFieldError)
    assert "lack the column 'at.place', a record key field of table rides" in str(error)


def test_pending_clustering_of_version_6_is_no_failed_write_and_stays() -> None:
    table = make_table(options={"hoodie.write.table.version": "6"})
    table.upsert([ride(1)])
    plan: dict[str, Any] = {"inputGroups": [], "strategy": None, "extraMetadata": None, "version": 1, "preserveHoodieMetadata": True}
    request = {"operationType": "CLUSTER", "clusteringPlan": plan, "extraMetadata": None, "version": 1}
    requested = ".hoodie/29990101000000000.replacecommit.requested"
    table.storage.create(requested, encode_record("HoodieRequestedReplaceMetadata", request, sync=bytes(16)))
    assert table.services.rollback() == ()
    table.upsert([ride(2)])
    assert table.storage.stat(requested)


def test_partitions_are_a_list_and_not_the_letters_of_a_text() -> None:
    table = make_table(partition_by=["city"])
    table.upsert([ride(1, "o")])
    for write in (lambda table: table.delete(partitions="o"), lambda table: table.overwrite([ride(2, "o")], partitions="o")):
        assert "give a list of paths, such as ['o']" in str(refused(table, write))

"""`hoodie.properties` as a typed value: what is stored, what is inferred, what is refused."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from pyhudi.errors import CorruptTableError, OptionError, UnsupportedError
from pyhudi.javacompat.properties import parse_properties
from pyhudi.spec.table.key_generator import KeyGeneratorType
from pyhudi.spec.table.merge_mode import MergeMode
from pyhudi.spec.table.table_config import TableConfig, new_table_properties
from pyhudi.spec.table_features import check_readable, check_writable
from tests.tables import BASE_ONLY, LANCE, WITH_LOGS

NEW = new_table_properties(name="t", database="default", record_key_fields=["id"], ordering_fields=["ts"])


def config(**changes: str) -> TableConfig:
    return TableConfig(NEW | {key.replace("__", "."): value for key, value in changes.items()})


def stored(table: Path) -> TableConfig:
    return TableConfig(parse_properties((table / ".hoodie" / "hoodie.properties").read_bytes()))


def test_a_version_6_table_is_read_as_it_was_written(fixture_table: Callable[[str], Path]) -> None:
    result = stored(fixture_table("cow/v6_complexkeygen_hivestyle"))
    assert (result.version, result.layout, result.initial_version) == (6, 1, None)
    assert result.record_key_fields == ("id", "name")
    assert result.partition_fields == ("byteField", "shortField")
    assert result.ordering_fields == ("longField",)
    assert result.key_generator is KeyGeneratorType.COMPLEX
    assert result.merge_mode is MergeMode.EVENT_TIME_ORDERING
    assert (result.timeline_path, result.archive_path) == (".hoodie", ".hoodie/archived")
    assert result.hive_style
    assert not result.url_encode


def test_a_version_9_table_is_read_as_it_was_written(fixture_table: Callable[[str], Path]) -> None:
    result = stored(fixture_table("cow/v9_timebasedkeygen_epochmillis"))
    assert (result.version, result.layout, result.initial_version) == (9, 2, 9)
    assert result.key_generator is KeyGeneratorType.TIMESTAMP
    assert result.metadata_partitions == ("column_stats", "files", "partition_stats", "record_index")
    assert result.timeline_path == ".hoodie/timeline"
    assert result.history_path == ".hoodie/timeline/history"
    assert result.timeline_zone == "LOCAL"


def test_a_payload_of_version_6_decides_over_the_strategy_beside_it(fixture_table: Callable[[str], Path]) -> None:
    assert stored(fixture_table("mor/parquet/v6_nonpartitioned")).merge_mode is MergeMode.COMMIT_TIME_ORDERING


def test_a_new_table_has_what_create_table_of_apache_hudi_stores(fixture_table: Callable[[str], Path]) -> None:
    theirs = stored(fixture_table("apache_hudi/sql_operations_v9")).properties
    ours = new_table_properties(
        name="sql_operations_v9",
        database="default",
        record_key_fields=["id"],
        partition_fields=["dt"],
        ordering_fields=["n"],
        hive_style=True,
        create_schema_json=theirs["hoodie.table.create.schema"],
    )
    assert ours == {**theirs, "hoodie.table.timeline.timezone": "UTC"}


def test_a_new_table_of_version_8_has_what_hudi_1_0_stores(fixture_table: Callable[[str], Path]) -> None:
    theirs = stored(fixture_table("cow/v8_simplekeygen_nonhivestyle")).properties
    ours = new_table_properties(
        name="v8_simplekeygen_nonhivestyle",
        version=8,
        database="default",
        record_key_fields=["id"],
        partition_fields=["byteField"],
        ordering_fields=["longField"],
        create_schema_json=theirs["hoodie.table.create.schema"],
    )
    assert ours == {**theirs, "hoodie.table.ordering.fields": "longField", "hoodie.table.timeline.timezone": "UTC"}


def test_a_new_table_of_version_6_has_what_hudi_0_14_stores(fixture_table: Callable[[str], Path]) -> None:
    theirs = stored(fixture_table("cow/v6_simplekeygen_nonhivestyle")).properties
    ours = new_table_properties(
        name=theirs["hoodie.table.name"],
        version=6,
        database="default",
        record_key_fields=["id"],
        partition_fields=["byteField"],
        ordering_fields=["longField"],
        create_schema_json=theirs["hoodie.table.create.schema"],
    )
    assert {name: ours.get(name) for name in theirs} == theirs
    assert ours.keys() - theirs.keys() == {
        "hoodie.compaction.payload.class",
        "hoodie.record.merge.strategy.id",
        "hoodie.table.keygenerator.type",
        "hoodie.table.ordering.fields",
        "hoodie.table.timeline.timezone",
        "hoodie.timeline.history.path",
        "hoodie.timeline.path",
    }


def test_custom_partition_fields_lose_their_types() -> None:
    result = config(hoodie__table__partition__fields="city:SIMPLE,ts:timestamp")
    assert result.partition_fields == ("city", "ts")
    assert result.partition_field_types == ("SIMPLE", "TIMESTAMP")


def test_the_class_of_the_key_generator_wins_over_its_type() -> None:
    result = config(hoodie__table__keygenerator__class="org.apache.hudi.keygen.ComplexKeyGenerator")
    assert result.key_generator is KeyGeneratorType.COMPLEX


def test_a_class_that_hudi_does_not_ship_is_user_provided_and_never_loaded() -> None:
    assert config(hoodie__table__keygenerator__class="os.system").key_generator is KeyGeneratorType.USER_PROVIDED


def test_a_config_pickles() -> None:
    assert pickle.loads(pickle.dumps(config())) == config()


@pytest.mark.parametrize(
    "changes",
    [
        {"hoodie__table__version": "nine"},
        {"hoodie__table__version": "-9"},
        {"hoodie__table__version": "9" * 400},
        {"hoodie__timeline__layout__version": "1"},
        {"hoodie__table__type": "COPY"},
        {"hoodie__populate__meta__fields": "maybe"},
        {"hoodie__table__timeline__timezone": "Mars"},
        {"hoodie__table__initial__version": "x"},
    ],
    ids=str,
)
def test_damaged_properties_are_refused(changes: dict[str, str]) -> None:
    with pytest.raises(CorruptTableError):
        config(**changes)


@pytest.mark.parametrize("path", ["../../etc", "a/../b", "/", "a//b", "..\\x"])
def test_folders_outside_the_table_are_refused(path: str) -> None:
    with pytest.raises(CorruptTableError, match="no folder inside the table"):
        _ = config(hoodie__timeline__path=path).timeline_path


@pytest.mark.parametrize("version", [1, 5, 7, 10, 11])
def test_versions_that_are_not_served_are_named_with_those_that_are(version: int) -> None:
    result = config(hoodie__table__version=str(version))
    with pytest.raises(UnsupportedError, match=rf"version={version} .* reads versions 6, 8, 9"):
        check_readable(result)
    with pytest.raises(UnsupportedError, match=rf"version={version} .* writes versions 6, 8, 9"):
        check_writable(result)


@pytest.mark.parametrize("name", LANCE)
def test_lance_tables_are_refused_by_name(name: str, fixture_table: Callable[[str], Path]) -> None:
    with pytest.raises(UnsupportedError, match=r"base\.file\.format=LANCE"):
        check_readable(stored(fixture_table(name)))


@pytest.mark.parametrize("name", [*BASE_ONLY, *WITH_LOGS])
def test_all_parquet_tables_are_readable(name: str, fixture_table: Callable[[str], Path]) -> None:
    check_readable(stored(fixture_table(name)))


UNREADABLE = {
    "hoodie.table.new.feature": "x",
    "hoodie.table.format": "iceberg",
    "hoodie.table.multiple.base.file.formats.enable": "true",
    "hoodie.table.base.file.format": "ORC",
}
UNWRITABLE = UNREADABLE | {
    "hoodie.datasource.write.drop.partition.columns": "true",  # and no partition fields
    "hoodie.datasource.write.slash.separated.date.partitioning": "true",
    "hoodie.record.merge.property.hoodie.some.setting": "x",
    "hoodie.table.keygenerator.type": "SPARK_SQL_UUID",
    "hoodie.unknown": "x",
}


@pytest.mark.parametrize(("key", "value"), UNREADABLE.items())
def test_features_that_readers_must_know_are_refused_by_name(key: str, value: str) -> None:
    with pytest.raises(UnsupportedError, match=key):
        check_readable(TableConfig(NEW | {key: value}))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("hoodie.bootstrap.index.type", "NO_OP"),
        ("hoodie.bootstrap.index.class", "org.mine.Index"),
        ("hoodie.bootstrap.index.enable", "false"),
    ],
)
def test_bootstrapped_tables_without_an_index_of_hudi_are_refused(key: str, value: str) -> None:
    check_readable(TableConfig(NEW | {"hoodie.bootstrap.base.path": "/elsewhere"}))
    with pytest.raises(UnsupportedError, match=value if key.endswith(("type", "class")) else key):
        check_readable(TableConfig(NEW | {"hoodie.bootstrap.base.path": "/elsewhere", key: value}))


@pytest.mark.parametrize(("key", "value"), UNWRITABLE.items())
def test_features_that_writers_must_know_are_refused_by_name(key: str, value: str) -> None:
    with pytest.raises(UnsupportedError, match=value if key.endswith("generator.type") else key):
        check_writable(TableConfig(NEW | {key: value}))


def test_new_tables_of_other_versions_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="version=7"):
        new_table_properties(name="t", version=7)


def test_a_new_table_needs_a_name() -> None:
    with pytest.raises(OptionError, match="name"):
        new_table_properties(name="")


def test_complex_keys_of_one_field_are_not_written_before_version_9_unless_the_table_says_how() -> None:
    properties = new_table_properties(name="t", version=8, record_key_fields=["id"], key_generator=KeyGeneratorType.COMPLEX)
    with pytest.raises(UnsupportedError, match="COMPLEX with the one field id"):
        check_writable(TableConfig(properties))
    check_writable(TableConfig(properties | {"hoodie.table.complex.keygenerator.encoding": "VALUE_ONLY"}))

"""Options of a sync: contradictions are refused before a write, and what is not given is inferred."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import OptionError, UnsupportedError
from pyhudi.spec.options import resolve
from pyhudi.storage.remote import hadoop_settings
from pyhudi.sync.sync_settings import CatalogKind, sync_settings

HIVE = "hoodie.datasource.hive_sync"
SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string()})


def table(folder: Path, **arguments: object) -> HudiTable:
    given = {"name": "Trips", "keys": ["id"], "partition_by": ["city"], **arguments}
    return HudiTable.create(folder / "t", SCHEMA, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({f"{HIVE}.partition_extractor_class": "NoSuch"}, "NoSuch"),
        ({f"{HIVE}.partition_extractor_class": "NonPartitionedExtractor"}, "contradicts the partition field"),
        ({f"{HIVE}.partition_fields": "city,City"}, "names 'city', which the table of the catalog would have twice"),
        ({f"{HIVE}.partition_fields": "_hoodie_record_key"}, "would have twice"),
        ({f"{HIVE}.table.strategy": "RO"}, "merge-on-read"),
        ({f"{HIVE}.mode": "hms", f"{HIVE}.use_jdbc": "true"}, "contradict each other"),
        ({f"{HIVE}.table_properties": "a=b\nc"}, "'c' is no key=value"),
        ({"hoodie.meta.sync.client.tool.class": "org.mine.Tool"}, "org.mine.Tool"),
        ({f"{HIVE}.mode": "ftp"}, "it can be hms"),
        ({f"{HIVE}.batch_num": "0"}, "above 0"),
        ({"hoodie.datasource.meta.sync.base.path": "rides/trips/"}, "rides/trips is no location"),
        ({f"{HIVE}.metastore.uris": "http://here:9083"}, "not of the form thrift://host:port"),
        ({f"{HIVE}.metastore.uris": "thrift://a:9083,thrift://b:x"}, "has no port"),
        ({f"{HIVE}.metastore.uris": " , "}, "names no metastore"),
        ({f"{HIVE}.bucket_sync": "true"}, "bucket"),
        ({"hoodie.datasource.meta.sync.glue.partition_index_fields.enable": "true"}, "partition index"),
    ],
)
def test_what_contradicts_is_refused_before_a_write(tmp_path: Path, options: dict[str, str], names: str) -> None:
    made = table(tmp_path)
    with pytest.raises((OptionError, UnsupportedError), match=names):
        made.upsert([{"id": 1, "city": "oslo"}], options={f"{HIVE}.enable": "true", **options})
    assert made.count() == 0


def test_partition_fields_of_a_table_without_partitions_are_refused(tmp_path: Path) -> None:
    made = table(tmp_path, partition_by=[])
    with pytest.raises(OptionError, match="has no partitions"):
        sync_settings(resolve({f"{HIVE}.partition_fields": "city"}), made.config)


def test_what_is_not_given_is_inferred(tmp_path: Path) -> None:
    config = table(tmp_path).config
    inferred = sync_settings(resolve({}), config)
    assert (inferred.database, inferred.table, inferred.partition_fields) == ("default", "trips", ("city",))
    assert inferred.catalogs == (CatalogKind.HMS,)
    assert sync_settings(resolve({f"{HIVE}.use_jdbc": "true"}), config).catalogs == (CatalogKind.JDBC,)
    assert sync_settings(resolve({f"{HIVE}.use_jdbc": "false"}), config).catalogs == (CatalogKind.HIVEQL,)
    assert sync_settings(resolve({f"{HIVE}.mode": "glue"}), config).catalogs == (CatalogKind.GLUE,)
    assert inferred.names() == (("trips", False),)


def test_the_package_of_the_client_is_asked_for_before_a_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pymetastore.hive_metastore.ThriftHiveMetastore", None)
    made = table(tmp_path)
    with pytest.raises(OptionError, match=r"pip install 'pyhudi\[hive\]'"):
        made.upsert([{"id": 1, "city": "oslo"}], options={f"{HIVE}.enable": "true"})
    assert made.count() == 0


@pytest.mark.parametrize(("mode", "package"), [("jdbc", "impala.dbapi"), ("hiveql", "impala.dbapi"), ("glue", "boto3")])
def test_the_package_of_each_mode_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, package: str) -> None:
    made = table(tmp_path)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(OptionError, match="pip install 'pyhudi"):
        made.upsert([{"id": 1, "city": "oslo"}], options={f"{HIVE}.enable": "true", f"{HIVE}.mode": mode})
    assert made.count() == 0


def test_glue_has_names_of_its_own(tmp_path: Path) -> None:
    glue = "hoodie.datasource.meta.sync.glue"
    stated = {f"{HIVE}.database": "of_hive", f"{glue}.database_name": "OF_GLUE", f"{glue}.table_name": "other"}
    settings = sync_settings(resolve(stated), table(tmp_path).config)
    assert (settings.of_catalog(CatalogKind.HMS).database, settings.of_catalog(CatalogKind.HMS).table) == ("of_hive", "trips")
    of_glue = settings.of_catalog(CatalogKind.GLUE)
    assert (of_glue.database, of_glue.table) == ("of_glue", "other")
    assert of_glue.catalog_properties == {"hudi.metadata-listing-enabled": "FALSE"}


@pytest.mark.parametrize(
    ("options", "settings", "uris"),
    [
        ({}, {}, ("thrift://localhost:9083",)),
        ({}, {"hive.metastore.uris": "thrift://a:1, thrift://b:2"}, ("thrift://a:1", "thrift://b:2")),
        ({f"{HIVE}.metastore.uris": "thrift://c:3"}, {"hive.metastore.uris": "thrift://a:1"}, ("thrift://c:3",)),
        ({f"{HIVE}.use_spark_catalog": "true"}, {"hive.metastore.uris": " "}, ("thrift://localhost:9083",)),
    ],
)
def test_the_metastore_of_the_session_is_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, str], settings: dict[str, str], uris: tuple[str, ...]
) -> None:
    monkeypatch.setattr(hadoop_settings, "_lookups", [lambda: settings.get])
    assert sync_settings(resolve(options), table(tmp_path).config).uris == uris


@pytest.mark.parametrize(("name", "what"), [("hive.metastore.sasl.enabled", "Kerberos"), ("hive.metastore.use.SSL", "TLS")])
def test_a_metastore_of_the_session_that_wants_more_than_thrift_is_refused_before_a_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, what: str
) -> None:
    """One that an option names is another one."""
    monkeypatch.setattr(hadoop_settings, "_lookups", [lambda: {name: "true", "hive.metastore.uris": "thrift://127.0.0.1:1"}.get])
    made = table(tmp_path)
    with pytest.raises(UnsupportedError, match=f"wants {what}"):
        made.upsert([{"id": 1, "city": "oslo"}], options={f"{HIVE}.enable": "true"})
    assert made.count() == 0
    named = {f"{HIVE}.enable": "true", f"{HIVE}.metastore.uris": "thrift://127.0.0.1:1"}
    (failed,) = made.upsert([{"id": 1, "city": "oslo"}], options=named).failed_services
    assert "no Hive metastore answers" in failed


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("hoodie.meta.sync.incremantal", "Did you mean 'hoodie.meta.sync.incremental'"),
        ("hoodie.meta.sync.datahub.emitter.server", "not with this catalog"),
        ("hoodie.datasource.meta.sync.glue.resource_tags", "set it there"),
        ("hoodie.aws.role.arn", "boto3 finds the credentials"),
    ],
)
def test_options_without_effect_are_named_for_what_they_are(name: str, part: str, caplog: pytest.LogCaptureFixture) -> None:
    resolve({name: "x"})
    assert part in caplog.text

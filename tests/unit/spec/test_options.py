"""Options: every name of a key finds it, and nothing that is asked for is ignored."""

from __future__ import annotations

import logging
import re
from typing import Any

import pytest

from pyhudi.errors import OptionError, UnsupportedError
from pyhudi.spec.config import config_keys, unknown_keys
from pyhudi.spec.config.config_key import ConfigKey, Kind, Status
from pyhudi.spec.config.config_keys import KEYS, find_key
from pyhudi.spec.options import _note_of_others, resolve, warn_unserved

NAMES = [(name, key) for key in KEYS if not key.is_family for name in (key.name, *key.aliases)]

STRICT = {"pyhudi.options.unserved": "refuse"}
SERVED = [key for key in KEYS if key.status is Status.SERVED]
CHECKED = SERVED + [key for key in KEYS if key.status is Status.HARMLESS and (key.choices or key.kind is not Kind.TEXT)]


def test_no_name_stands_for_two_keys() -> None:
    names = [name.lower() for name, _ in NAMES]
    assert sorted(names) == sorted(set(names))


def test_every_name_finds_its_key_in_any_case() -> None:
    for name, key in NAMES:
        assert find_key(name.upper()) is key


@pytest.mark.parametrize("key", SERVED, ids=lambda key: key.name)
def test_served_keys_say_what_they_do_and_accept_their_default(key: Any) -> None:
    assert key.doc.endswith(".")
    if key.default:
        assert resolve({key.name: key.default}).text(key.name) == key.default


@pytest.mark.parametrize("status", [Status.REFUSED, Status.UNSERVED])
def test_refused_keys_are_refused_with_a_reason_unless_they_ask_for_nothing(status: Status) -> None:
    for key in KEYS:
        if key.status is not status or (key.is_family and not key.is_open):
            continue
        name = key.name.replace("**", "anything")
        with pytest.raises(UnsupportedError, match=re.escape(name)) as caught:
            resolve({name: "some value", **STRICT})
        assert key.reason in str(caught.value)
        assert "some value" not in str(caught.value)
        for value in key.harmless_values:
            assert resolve({name: value.upper()}).given == {}


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("hoodie.datasource.write.recordkey.fields", "hoodie.datasource.write.recordkey.field"),
        ("hoodie.datasource.write.opration", "hoodie.datasource.write.operation"),
        ("spark.hoodie.datasource.write.opration", "hoodie.datasource.write.operation"),
        ("pyhudi.engin", "pyhudi.engine"),
    ],
)
def test_an_unknown_option_of_hudi_is_refused_with_the_nearest_name(name: str, hint: str) -> None:
    with pytest.raises(OptionError, match=f"'{name.removeprefix('spark.')}' is unknown. Did you mean '{hint}'"):
        resolve({name: "x"})


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("hoodie.datasource.write.recordkey.feild", "hoodie.datasource.write.recordkey.field"),
        ("hoodie.datasource.write.partitionpath.fild", "hoodie.datasource.write.partitionpath.field"),
        ("hoodie.datasource.write.precombine.fields", "hoodie.datasource.write.precombine.field"),
        ("hoodie.datasource.write.table.typ", "hoodie.datasource.write.table.type"),
        ("hoodie.record.merge.mod", "hoodie.record.merge.mode"),
        ("hoodie.write.concurrency.mod", "hoodie.write.concurrency.mode"),
        ("hoodie.clean.automtic", "hoodie.clean.automatic"),
        ("hoodie.indx.type", "hoodie.index.type"),
    ],
)
def test_a_misspelling_of_a_key_that_decides_on_rows_is_refused(name: str, key: str) -> None:
    with pytest.raises(OptionError, match=f"'{name}' is unknown. Did you mean '{key}'"):
        resolve({name: "x"})


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("hoodie.no.such.key", ""),
        ("hoodie.qqqq", ""),
        ("hoodie.my.setting", ""),
        ("hoodie.clustering.plan.strategy.partition.filter.mode", " Did you mean 'hoodie.clustering.plan.partition.filter.mode'?"),
        ("hoodie.parquet.page.sizes", " Did you mean 'hoodie.parquet.page.size'?"),
        ("spark.hoodie.parquet.page.sizes", " Did you mean 'hoodie.parquet.page.size'?"),
    ],
)
def test_other_unknown_names_are_warned_of_once_and_refused_on_request(name: str, hint: str, caplog: pytest.LogCaptureFixture) -> None:
    unknown_keys._warn.cache_clear()
    for _ in range(2):
        assert resolve({name: "x"}).given == {}
    messages = [record.message for record in caplog.records if record.levelno == logging.WARNING]
    bare = name.removeprefix("spark.")
    assert len(messages) == 1
    assert messages[0].startswith(f"option '{bare}' has no effect: Apache Hudi has none of that name.{hint}")
    for switch in ("pyhudi.options.unknown", "spark.pyhudi.options.unknown"):
        with pytest.raises(OptionError, match=f"'{bare}' is unknown.{re.escape(hint)}"):
            resolve({name: "x", switch: "refuse"})


def test_keys_of_earlier_releases_are_noted_without_advice_about_others(caplog: pytest.LogCaptureFixture) -> None:
    unknown_keys._note_former.cache_clear()
    for _ in range(2):
        assert resolve({"hoodie.auto.commit": "true", "hoodie.metadata.validate": "false"}).given == {}
    commit, validate = caplog.messages
    assert commit == "option 'hoodie.auto.commit' has no effect: only earlier releases of Apache Hudi have it (each write commits)"
    assert "Did you mean" not in validate, "hoodie.metadata.index.drop was named, which drops an index"
    with pytest.raises(OptionError, match=r"'hoodie\.auto\.commit' is unknown"):
        resolve({"hoodie.auto.commit": "true", "pyhudi.options.unknown": "refuse"})


def test_former_keys_are_none_that_are_known() -> None:
    assert [name for name in unknown_keys._FORMER if config_keys.find_key(name) is not None] == []


def test_names_that_are_none_of_hudis_are_left_to_spark(caplog: pytest.LogCaptureFixture) -> None:
    _note_of_others.cache_clear()
    caplog.set_level(logging.INFO, "pyhudi.options")
    names = ("mergeSchema", "spark.sql.shuffle.partitions", "owner", "compression", "fs.s3a.endpoint")
    for _ in range(2):
        assert resolve({**dict.fromkeys(names, "x"), "_note": "y"}).given == {"_note": "y"}
    assert [record.levelname for record in caplog.records if "none of Hudi's" in record.message] == ["INFO"] * len(names)


@pytest.mark.parametrize(("name", "hint"), [("primaryKye", "primaryKey"), ("as.of.instan", "as.of.instant")])
def test_one_that_looks_like_a_misspelt_short_name_is_warned_of_once(name: str, hint: str, caplog: pytest.LogCaptureFixture) -> None:
    _note_of_others.cache_clear()
    for _ in range(2):
        assert resolve({name: "x"}).given == {}
    assert [record.message for record in caplog.records if record.levelno == logging.WARNING] == [
        f"option '{name}' has no effect: Hudi has none of that name. Did you mean '{hint}'?"
    ]


#: What users of Apache Hudi state in every job, and what no write of this release needs.
SERVICES = {
    "hoodie.gcp.bigquery.sync.project_id": "p",
    "hoodie.table.service.manager.enabled": "true",
    "hoodie.table.service.manager.uris": "http://manager",
    "hoodie.metadata.metrics.enable": "true",
    "hoodie.metadata.record.level.index.defer.init": "true",
    "hoodie.metadata.index.bloom.filter.column.list": "city",
    "hoodie.parquet.outputtimestamptype": "INT96",
    "hoodie.parquet.writelegacyformat.enabled": "true",
    "hoodie.partition.metafile.use.base.format": "true",
}


def test_keys_of_services_that_change_no_row_are_accepted_with_one_warning_each(caplog: pytest.LogCaptureFixture) -> None:
    warn_unserved.cache_clear()
    for _ in range(3):
        assert resolve({**SERVICES, "primaryKey": "id"}).given == {"hoodie.datasource.write.recordkey.field": "id"}
    warned = [record.message for record in caplog.records if record.levelno == logging.WARNING and record.name == "pyhudi.options"]
    assert sorted(message.split("'")[1] for message in warned) == sorted(SERVICES)
    assert all("is not served and has no effect" in message and "pyhudi.options.unserved=refuse" in message for message in warned)


@pytest.mark.parametrize("name", SERVICES)
@pytest.mark.parametrize("strict", ["pyhudi.options.unserved", "spark.pyhudi.options.unserved", "PYHUDI.options.Unserved"])
def test_they_are_refused_where_that_is_asked_for(name: str, strict: str) -> None:
    with pytest.raises(UnsupportedError, match=re.escape(name)):
        resolve({name: SERVICES[name], strict: "Refuse"})


def test_a_service_that_is_switched_off_is_not_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    warn_unserved.cache_clear()
    resolve({"hoodie.metadata.metrics.enable": "false"})
    assert caplog.records == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("hoodie.write.lock.consul.url", "consul:8500"),
        ("hoodie.metadata.write.concurrency.mode", "optimistic_concurrency_control"),
        ("hoodie.record.merge.property.any", "x"),
        ("hoodie.keygen.datetime.parser.class", "org.mine.Parser"),
        ("hoodie.table.base.file.format", "ORC"),
        ("hoodie.timeline.path", "elsewhere"),
        ("hoodie.bucket.index.partition.rule.type", "other"),
        ("hoodie.index.class", "org.mine.Index"),
        ("hoodie.prewrite.validators", "org.mine.Validator"),
        ("hoodie.write.merge.handle.class", "org.apache.hudi.io.HoodieMergeHandle,org.mine.Handle"),
        ("hoodie.write.record.merge.custom.implementation.classes", "org.mine.Merger"),
        ("hoodie.storage.class", "org.mine.Storage"),
        ("hoodie.internal.schema", "{}"),
        ("hoodie.metaserver.enabled", "true"),
        ("hoodie.metadata.index.drop", "column_stats"),
        ("hoodie.compaction.preserve.commit.metadata", "false"),
    ],
)
def test_what_would_change_rows_keys_places_or_writers_is_refused_always(name: str, value: str) -> None:
    with pytest.raises(UnsupportedError, match=re.escape(name)):
        resolve({name: value, "pyhudi.options.unserved": "warn"})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("hoodie.index.name", "by_city"),
        ("hoodie.expression.index.function", "lower"),
        ("hoodie.expression.index.type", "BLOOM_FILTERS"),
        ("hoodie.datasource.write.secondarykey.column", "city"),
        ("hoodie.metadata.index.expression.column", "city"),
        ("hoodie.metadata.index.expression.options", "expr=lower"),
        ("hoodie.metadata.index.secondary.column", "city"),
        ("hoodie.metadata.auto.initialize", "false"),
        ("hoodie.write.concurrency.schema.conflict.resolution.enable", "false"),
        ("hoodie.meta_sync.global.replicate.timestamp", "20260101"),
    ],
)
def test_what_apache_hudi_ignores_in_writes_has_no_effect(name: str, value: str) -> None:
    """Apache Hudi 1.2.0 wrote the same rows, properties and indexes with and without each of these."""
    assert resolve({name: value}).given == {}


#: Values that no key of a kind can have.
BAD = {
    Kind.TEXT: (),
    Kind.FLAG: ("yes", "1", "tru", ""),
    Kind.INTEGER: ("abc", "1.5", "1e6", "1_000", "\u0663", "", "9" * 19),
    Kind.COUNT: ("abc", "-1", "0.5"),
    Kind.POSITIVE: ("abc", "0", "-1", "1e6", "1" * 30),
    Kind.NUMBER: ("abc", "-1", "nan", "inf", "1_0.5", ""),
    Kind.FRACTION: ("abc", "0", "1", "nan"),
}


def test_keys_without_effect_have_values_of_apache_hudi() -> None:
    """A sample of no values builds no curve, and there is no third way to build one."""
    for name, value in {"hoodie.layout.optimize.curve.build.method": "X", "hoodie.layout.optimize.build.curve.sample.size": "0"}.items():
        with pytest.raises(OptionError, match=re.escape(f"{name}={value} is not possible: it ")):
            resolve({name: value})
    assert resolve({"hoodie.layout.optimize.curve.build.method": "sample"}).given == {}


@pytest.mark.parametrize("key", CHECKED, ids=lambda key: key.name)
def test_a_value_that_a_key_cannot_have_is_refused_with_what_it_can_be(key: ConfigKey) -> None:
    bad = ("no such value", "") if key.choices else BAD[key.kind]
    for name in (key.name, *key.aliases):
        for value in bad:
            with pytest.raises(OptionError, match=re.escape(f"{name}={value} is not possible: it ")) as caught:
                resolve({name: value})
            assert all(allowed in str(caught.value) for allowed in (key.choices or (key.kind.value,)))


def test_two_names_of_one_key_may_agree_but_not_differ() -> None:
    assert resolve({"preCombineField": "ts", "orderingFields": "ts"}).text("hoodie.table.ordering.fields") == "ts"
    with pytest.raises(OptionError, match="two names of one option"):
        resolve({"preCombineField": "ts", "hoodie.table.ordering.fields": "other"})


def test_a_spark_setting_loses_to_the_option_itself() -> None:
    options = resolve({"hoodie.table.name": "own", "spark.hoodie.table.name": "spark"})
    assert options.text("hoodie.table.name") == "own"
    assert resolve({"spark.hoodie.table.name": "spark"}).text("hoodie.table.name") == "spark"


def test_values_may_be_numbers_and_truth_values_and_none_means_not_given() -> None:
    options = resolve({"hoodie.combine.before.upsert": False, "hoodie.parquet.max.file.size": 10, "hoodie.table.name": None})
    assert options.flag("hoodie.combine.before.upsert", default=True) is False
    assert options.integer("hoodie.parquet.max.file.size") == 10
    assert options.get("hoodie.table.name") is None
    with pytest.raises(OptionError, match="list"):
        resolve({"primaryKey": ["id"]})


def test_what_is_not_given_is_the_default_of_the_caller_or_else_of_the_key() -> None:
    options = resolve({})
    assert options.integer("hoodie.parquet.max.file.size") == 125829120
    assert options.integer("hoodie.parquet.max.file.size", default=5) == 5
    assert options.number("hoodie.index.bloom.fpp") == 1e-9
    assert options.flag("hoodie.combine.before.insert") is False


def test_class_names_stand_for_what_they_mean() -> None:
    options = resolve(
        {
            "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.ComplexKeyGenerator",
            "payloadClass": "org.apache.hudi.common.model.DefaultHoodieRecordPayload",
        }
    )
    assert options.text("hoodie.table.keygenerator.type") == "COMPLEX"
    assert options.text("hoodie.record.merge.mode") == "EVENT_TIME_ORDERING"


def test_a_key_generator_of_a_users_own_keeps_its_name() -> None:
    options = resolve({"hoodie.datasource.write.keygenerator.class": "org.mine"})
    assert options.text("hoodie.datasource.write.keygenerator.class") == "org.mine"
    assert options.text("hoodie.datasource.write.keygenerator.type") == "USER_PROVIDED"


def test_a_payload_class_that_says_more_than_a_mode_stays() -> None:
    name = "org.apache.hudi.common.model.PartialUpdateAvroPayload"
    assert resolve({"payloadClass": name}).text("hoodie.datasource.write.payload.class") == name


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("bloom.HoodieBloomIndex", "BLOOM"),
        ("simple.HoodieGlobalSimpleIndex", "GLOBAL_SIMPLE"),
        ("bucket.HoodieSimpleBucketIndex", "BUCKET"),
        ("SparkMetadataTableRecordIndex", "RECORD_INDEX"),
    ],
)
def test_an_index_of_apache_hudi_may_be_named_by_its_class(name: str, index: str) -> None:
    options = resolve({"hoodie.index.class": f"org.apache.hudi.index.{name}"})
    assert options.given == {"hoodie.index.type": index}
    with pytest.raises(OptionError, match="contradict"):
        resolve({"hoodie.index.class": f"org.apache.hudi.index.{name}", "hoodie.index.type": "INMEMORY"})


#: Classes of Apache Hudi whose work is done in any case, and settings of what a write does not do.
WITHOUT_EFFECT = {
    "hoodie.datasource.write.record.merger.impls": (
        "org.apache.hudi.HoodieSparkRecordMerger,org.apache.hudi.common.model.HoodieAvroRecordMerger"
    ),
    "hoodie.write.merge.handle.class": "org.apache.hudi.io.HoodieMergeHandle",
    "hoodie.writestatus.class": "org.apache.hudi.client.FailOnFirstErrorWriteStatus",
    "hoodie.prewrite.validators": "",
    "hoodie.storage.layout.type": "BUCKET",
    "hoodie.errortable.enable": "true",
    "hoodie.bootstrap.base.path": "/data",
    "hoodie.index.hbase.zkquorum": "zookeeper",
    "hoodie.realtime.merge.skip": "true",
    "hoodie.streamer.schemaprovider.source.schema.file": "/data/source.avsc",
    "hoodie.deltastreamer.source.dfs.root": "/data",
    "hoodie.blob.external.storage.path": "/blobs",
    "hoodie.write.can.ignore.post.commit.failures": "true",
    "hoodie.avro.schema.external.transformation": "true",
}


def test_what_asks_for_nothing_of_a_write_is_accepted_without_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    warn_unserved.cache_clear()
    assert resolve({**WITHOUT_EFFECT, "pyhudi.options.unserved": "refuse", "pyhudi.options.unknown": "refuse"}).given == {
        "pyhudi.options.unserved": "refuse",
        "pyhudi.options.unknown": "refuse",
    }
    assert caplog.records == []


def test_the_older_name_of_the_form_of_changes_is_served() -> None:
    assert resolve({"hoodie.datasource.query.incremental.type": "cdc"}).text("hoodie.datasource.query.incremental.format") == "cdc"


def test_a_class_that_contradicts_the_type_is_refused() -> None:
    with pytest.raises(OptionError, match="contradict"):
        resolve(
            {
                "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.ComplexKeyGenerator",
                "hoodie.datasource.write.keygenerator.type": "SIMPLE",
            }
        )


def test_a_harmless_key_is_noted_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "pyhudi.options")
    for _ in range(3):
        resolve({"HOODIE.embed.timeline.server.GZIP": "false"})
    assert (
        len([message for message in caplog.messages if message.startswith("option 'HOODIE.embed.timeline.server.GZIP' has no effect")]) == 1
    )


def test_the_metadata_table_is_on_unless_it_is_switched_off() -> None:
    assert resolve({}).flag("hoodie.metadata.enable")
    assert not resolve({"hoodie.metadata.enable": "false"}).flag("hoodie.metadata.enable")

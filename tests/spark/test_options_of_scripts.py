"""Options as scripts for Apache Hudi have them, each on a fresh table: all are accepted."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from pyhudi import HudiTable
from tests.slow_cases import slow_cases

pytestmark = pytest.mark.spark

#: Key and value, as guides, notebooks and jobs write them.
_TEXT = """\
hoodie.table.name t
hoodie.datasource.write.table.name t
hoodie.database.name sales
hoodie.datasource.write.table.type COPY_ON_WRITE
hoodie.datasource.write.table.type MERGE_ON_READ
hoodie.table.type MERGE_ON_READ
hoodie.datasource.write.storage.type COPY_ON_WRITE
hoodie.datasource.write.recordkey.field id
hoodie.datasource.write.recordkey.field id,city
hoodie.datasource.write.partitionpath.field city
hoodie.datasource.write.precombine.field ts
hoodie.table.precombine.field ts
hoodie.table.ordering.fields ts
hoodie.datasource.write.operation upsert
hoodie.datasource.write.operation insert
hoodie.datasource.write.operation bulk_insert
hoodie.datasource.write.operation insert_overwrite
hoodie.datasource.write.operation insert_overwrite_table
hoodie.datasource.write.keygenerator.class org.apache.hudi.keygen.SimpleKeyGenerator
hoodie.datasource.write.keygenerator.class org.apache.hudi.keygen.ComplexKeyGenerator
hoodie.datasource.write.keygenerator.class org.apache.hudi.keygen.NonpartitionedKeyGenerator
hoodie.datasource.write.keygenerator.class org.apache.hudi.keygen.CustomKeyGenerator
hoodie.datasource.write.keygenerator.type SIMPLE
hoodie.datasource.write.hive_style_partitioning true
hoodie.datasource.write.partitionpath.urlencode true
hoodie.datasource.write.drop.partition.columns true
hoodie.datasource.write.payload.class org.apache.hudi.common.model.DefaultHoodieRecordPayload
hoodie.datasource.write.payload.class org.apache.hudi.common.model.OverwriteWithLatestAvroPayload
hoodie.compaction.payload.class org.apache.hudi.common.model.DefaultHoodieRecordPayload
hoodie.payload.ordering.field ts
hoodie.payload.event.time.field ts
hoodie.record.merge.mode EVENT_TIME_ORDERING
hoodie.record.merge.mode COMMIT_TIME_ORDERING
hoodie.datasource.write.reconcile.schema true
hoodie.datasource.write.row.writer.enable true
hoodie.datasource.write.row.writer.enable false
hoodie.datasource.write.insert.drop.duplicates true
hoodie.datasource.write.commitmeta.key.prefix _
hoodie.datasource.write.keygenerator.consistent.logical.timestamp.enabled true
hoodie.datasource.write.streaming.ignore.failed.batch false
hoodie.datasource.write.streaming.retry.count 3
hoodie.datasource.write.streaming.retry.interval.ms 2000
hoodie.combine.before.insert true
hoodie.combine.before.upsert true
hoodie.insert.shuffle.parallelism 2
hoodie.upsert.shuffle.parallelism 2
hoodie.bulkinsert.shuffle.parallelism 2
hoodie.delete.shuffle.parallelism 2
hoodie.finalize.write.parallelism 10
hoodie.rollback.parallelism 10
hoodie.rollback.using.markers true
hoodie.write.markers.type DIRECT
hoodie.write.markers.type TIMELINE_SERVER_BASED
hoodie.embed.timeline.server false
hoodie.embed.timeline.server true
hoodie.filesystem.view.incr.timeline.sync.enable false
hoodie.index.type SIMPLE
hoodie.index.type BLOOM
hoodie.index.type GLOBAL_BLOOM
hoodie.index.type GLOBAL_SIMPLE
hoodie.index.type RECORD_INDEX
hoodie.index.type BUCKET
hoodie.bucket.index.num.buckets 4
hoodie.bucket.index.hash.field id
hoodie.simple.index.parallelism 10
hoodie.bloom.index.parallelism 10
hoodie.bloom.index.update.partition.path true
hoodie.simple.index.update.partition.path true
hoodie.bloom.index.prune.by.ranges true
hoodie.bloom.index.use.caching true
hoodie.index.bloom.num_entries 60000
hoodie.index.bloom.fpp 0.000001
hoodie.bloom.index.filter.type DYNAMIC_V0
hoodie.parquet.max.file.size 125829120
hoodie.parquet.small.file.limit 104857600
hoodie.parquet.small.file.limit 0
hoodie.parquet.block.size 125829120
hoodie.parquet.page.size 1048576
hoodie.parquet.compression.codec snappy
hoodie.parquet.compression.codec gzip
hoodie.parquet.compression.ratio 0.35
hoodie.parquet.outputtimestamptype TIMESTAMP_MICROS
hoodie.parquet.dictionary.enabled true
hoodie.copyonwrite.insert.split.size 500000
hoodie.copyonwrite.record.size.estimate 1024
hoodie.copyonwrite.insert.auto.split true
hoodie.logfile.data.block.format avro
hoodie.logfile.data.block.format parquet
hoodie.logfile.max.size 1073741824
hoodie.logfile.to.parquet.compression.ratio 0.35
hoodie.clean.automatic true
hoodie.clean.automatic false
hoodie.clean.async false
hoodie.cleaner.policy KEEP_LATEST_COMMITS
hoodie.cleaner.policy KEEP_LATEST_FILE_VERSIONS
hoodie.cleaner.commits.retained 10
hoodie.cleaner.fileversions.retained 3
hoodie.cleaner.hours.retained 24
hoodie.cleaner.policy.failed.writes EAGER
hoodie.cleaner.parallelism 10
hoodie.clean.max.commits 5
hoodie.keep.min.commits 20
hoodie.keep.max.commits 30
hoodie.archive.automatic true
hoodie.archive.async false
hoodie.commits.archival.batch 10
hoodie.compact.inline true
hoodie.compact.inline false
hoodie.compact.inline.max.delta.commits 5
hoodie.compact.inline.trigger.strategy NUM_COMMITS
hoodie.compact.schedule.inline false
hoodie.datasource.compaction.async.enable false
hoodie.compaction.target.io 512000
hoodie.compaction.strategy org.apache.hudi.table.action.compact.strategy.LogFileSizeBasedCompactionStrategy
hoodie.clustering.inline false
hoodie.clustering.inline true
hoodie.clustering.inline.max.commits 4
hoodie.clustering.async.enabled false
hoodie.clustering.plan.strategy.target.file.max.bytes 1073741824
hoodie.clustering.plan.strategy.small.file.limit 629145600
hoodie.clustering.plan.strategy.sort.columns city
hoodie.layout.optimize.strategy z-order
hoodie.bulkinsert.sort.mode GLOBAL_SORT
hoodie.bulkinsert.sort.mode NONE
hoodie.metadata.enable true
hoodie.metadata.enable false
hoodie.metadata.index.column.stats.enable true
hoodie.metadata.index.column.stats.column.list id,city
hoodie.metadata.index.bloom.filter.enable false
hoodie.metadata.record.index.enable true
hoodie.metadata.index.async false
hoodie.metadata.compact.max.delta.commits 10
hoodie.metadata.keep.min.commits 20
hoodie.metadata.insert.parallelism 1
hoodie.write.concurrency.mode SINGLE_WRITER
hoodie.write.lock.provider org.apache.hudi.client.transaction.lock.InProcessLockProvider
hoodie.write.lock.wait_time_ms 60000
hoodie.write.lock.num_retries 10
hoodie.write.lock.client.num_retries 10
hoodie.write.table.version 9
hoodie.write.auto.upgrade true
hoodie.allow.empty.commit true
hoodie.populate.meta.fields true
hoodie.table.cdc.enabled false
hoodie.table.cdc.supplemental.logging.mode DATA_BEFORE_AFTER
hoodie.schema.on.read.enable true
hoodie.avro.schema.validate true
hoodie.datasource.meta.sync.enable false
hoodie.memory.merge.max.size 1073741824
hoodie.orc.max.file.size 125829120
hoodie.metaserver.uris thrift://localhost:9090
hoodie.metadata.bloom.filter.fpp 0.000000001
"""
OPTIONS = _TEXT.splitlines()
ROWS = [{"id": 1, "city": "oslo", "ts": 10, "fare": 2.5}, {"id": 2, "city": "rome", "ts": 11, "fare": 3.5}]


def test_there_are_as_many_as_scripts_have() -> None:
    assert len(OPTIONS) == len(set(OPTIONS)) >= 149


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([(1, "oslo", 10, 2.5), (2, "rome", 11, 3.5)], "id INT, city STRING, ts BIGINT, fare DOUBLE")


@pytest.mark.parametrize("option", slow_cases(OPTIONS, {*OPTIONS} - {*OPTIONS[::9]}))
def test_an_option_of_a_script(rows: DataFrame, option: str, tmp_path: Path) -> None:
    name, value = option.split(" ")
    options = {
        "hoodie.table.name": "t",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": "city:SIMPLE" if "Custom" in value else "city",
        "hoodie.datasource.write.precombine.field": "ts",
    }
    if "Nonpartitioned" in value:
        del options["hoodie.datasource.write.partitionpath.field"]
    if name in ("hoodie.table.precombine.field", "hoodie.table.ordering.fields"):
        del options["hoodie.datasource.write.precombine.field"]
    writer = rows.write.format("hudi").options(**options).option(name, value).mode("append")
    writer.save(str(tmp_path / "t"))
    assert HudiTable.open(tmp_path / "t").count() == 2

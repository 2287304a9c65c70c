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
#: Further ones, as users state them for services, catalogs, locks and classes; `{table}` is the path of the table.
_FURTHER = """\
hoodie.base.path {table}
hoodie.merge.allow.duplicate.on.inserts false
hoodie.merge.allow.duplicate.on.inserts true
hoodie.datasource.insert.dup.policy drop
hoodie.parquet.outputtimestamptype TIMESTAMP_MILLIS
hoodie.parquet.outputtimestamptype INT96
hoodie.parquet.writelegacyformat.enabled true
hoodie.parquet.writelegacyformat.enabled false
hoodie.parquet.bloom.filter.enabled false
hoodie.parquet.field_id.write.enabled true
hoodie.partition.metafile.use.base.format true
hoodie.write.can.ignore.post.commit.failures true
hoodie.fail.writes.on.inline.table.service.exception false
hoodie.errortable.enable true
hoodie.errortable.base.path /tmp/errors
hoodie.bootstrap.index.enable false
hoodie.bootstrap.base.path /data/source
hoodie.storage.layout.type BUCKET
hoodie.storage.layout.partitioner.class org.apache.hudi.table.action.commit.SparkBucketIndexPartitioner
hoodie.index.class org.apache.hudi.index.simple.HoodieSimpleIndex
hoodie.index.class org.apache.hudi.index.bloom.HoodieGlobalBloomIndex
hoodie.index.hbase.zkquorum zookeeper
hoodie.datasource.write.record.merger.impls org.apache.hudi.HoodieSparkRecordMerger
hoodie.datasource.write.record.merger.impls org.apache.hudi.common.model.HoodieAvroRecordMerger
hoodie.write.merge.handle.class org.apache.hudi.io.HoodieMergeHandle
hoodie.write.concat.handle.class org.apache.hudi.io.HoodieConcatHandle
hoodie.writestatus.class org.apache.hudi.client.WriteStatus
hoodie.record.size.estimator.class org.apache.hudi.estimator.AverageRecordSizeEstimator
hoodie.realtime.merge.skip false
hoodie.avro.schema.external.transformation true
hoodie.streamer.schemaprovider.source.schema.file /schemas/source.avsc
hoodie.deltastreamer.source.dfs.root /landing
hoodie.deltastreamer.ingestion.targetCheckpoint x
hoodie.datasource.write.new.columns.nullable true
hoodie.datasource.write.schema.allow.auto.evolution.column.drop true
hoodie.write.set.null.for.missing.columns true
hoodie.write.schema.validate true
hoodie.datasource.hive_sync.enable false
hoodie.datasource.hive_sync.database default
hoodie.datasource.hive_sync.table t
hoodie.datasource.hive_sync.partition_fields city
hoodie.datasource.hive_sync.partition_extractor_class org.apache.hudi.hive.MultiPartKeysValueExtractor
hoodie.datasource.hive_sync.mode hms
hoodie.datasource.hive_sync.use_jdbc false
hoodie.datasource.hive_sync.support_timestamp true
hoodie.datasource.hive_sync.ignore_exceptions true
hoodie.datasource.hive_sync.metastore.uris thrift://metastore:9083
hoodie.datasource.hive_sync.jdbcurl jdbc:hive2://hive:10000
hoodie.datasource.hive_sync.username hive
hoodie.datasource.hive_sync.password hive
hoodie.datasource.hive_sync.auto_create_database true
hoodie.datasource.hive_sync.omit_metadata_fields true
hoodie.datasource.meta_sync.condition.sync true
hoodie.meta.sync.client.tool.class org.apache.hudi.aws.sync.AwsGlueCatalogSyncTool
hoodie.gcp.bigquery.sync.project_id project
hoodie.write.commit.callback.on false
hoodie.write.commit.callback.http.url http://localhost/callback
hoodie.metrics.on false
hoodie.metrics.on true
hoodie.metrics.reporter.type INMEMORY
hoodie.metrics.reporter.type PROMETHEUS_PUSHGATEWAY
hoodie.metrics.pushgateway.host localhost
hoodie.metrics.datadog.api.key key
hoodie.metrics.configs.properties /etc/hudi/metrics.properties
hoodie.precommit.validators.failure.policy WARN_LOG
hoodie.write.concurrency.mode optimistic_concurrency_control
hoodie.write.lock.provider org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider
hoodie.write.lock.client.wait_time_ms_between_retry 1000
hoodie.write.lock.max_wait_time_ms_between_retry 5000
hoodie.write.num.retries.on.conflict.failures 2
hoodie.cleaner.policy.failed.writes LAZY
hoodie.cleaner.incremental.mode true
hoodie.clean.trigger.strategy NUM_COMMITS
hoodie.cleaner.commits.retained 1
hoodie.keep.min.commits 4
hoodie.archive.merge.enable true
hoodie.archive.beyond.savepoint true
hoodie.compact.inline.max.delta.seconds 3600
hoodie.compact.inline.trigger.strategy NUM_OR_TIME
hoodie.compaction.logfile.size.threshold 0
hoodie.compaction.lazy.block.read true
hoodie.compaction.preserve.commit.metadata true
hoodie.compaction.daybased.target.partitions 10
hoodie.log.compaction.inline false
hoodie.clustering.plan.strategy.class org.apache.hudi.client.clustering.plan.strategy.SparkSizeBasedClusteringPlanStrategy
hoodie.clustering.execution.strategy.class org.apache.hudi.client.clustering.run.strategy.SparkSortAndSizeExecutionStrategy
hoodie.clustering.plan.partition.filter.mode RECENT_DAYS
hoodie.clustering.plan.strategy.daybased.lookback.partitions 2
hoodie.clustering.preserve.commit.metadata true
hoodie.clustering.updates.strategy org.apache.hudi.client.clustering.update.strategy.SparkRejectUpdateStrategy
hoodie.clustering.async.max.commits 4
hoodie.clustering.plan.strategy.max.num.groups 30
hoodie.clustering.plan.strategy.max.bytes.per.group 2147483648
hoodie.layout.optimize.enable true
hoodie.bulkinsert.sort.mode PARTITION_SORT
hoodie.bulkinsert.user.defined.partitioner.sort.columns city
hoodie.metadata.index.column.stats.parallelism 10
hoodie.metadata.record.index.min.filegroup.count 1
hoodie.metadata.index.column.stats.for.columns id
hoodie.metadata.index.partition.stats.enable true
hoodie.metadata.index.secondary.enable true
hoodie.metadata.index.expression.enable true
hoodie.metadata.clean.async false
hoodie.metadata.cleaner.commits.retained 3
hoodie.metadata.auto.initialize true
hoodie.metadata.metrics.enable false
hoodie.enable.data.skipping true
hoodie.file.index.enable true
hoodie.record.index.use.caching true
hoodie.bloom.index.bucketized.checking true
hoodie.bloom.index.keys.per.bucket 10000000
hoodie.bloom.index.input.storage.level MEMORY_AND_DISK_SER
hoodie.global.simple.index.parallelism 100
hoodie.index.bucket.engine SIMPLE
hoodie.memory.merge.fraction 0.6
hoodie.memory.spillable.map.path /tmp/
hoodie.common.spillable.diskmap.type ROCKS_DB
hoodie.write.status.storage.level MEMORY_AND_DISK_SER
hoodie.write.buffer.limit.bytes 4194304
hoodie.write.executor.type DISRUPTOR
hoodie.filesystem.view.type MEMORY
hoodie.filesystem.view.remote.timeout.secs 300
hoodie.consistency.check.enabled false
hoodie.embed.timeline.server.port 0
hoodie.markers.timeline_server_based.batch.num_threads 20
hoodie.client.heartbeat.interval_in_ms 60000
hoodie.client.heartbeat.tolerable.misses 2
hoodie.auto.adjust.lock.configs true
hoodie.auto.commit true
hoodie.skip.default.partition.validation true
hoodie.table.keygenerator.class org.apache.hudi.keygen.SimpleKeyGenerator
hoodie.table.timeline.timezone UTC
hoodie.timeline.layout.version 2
hoodie.archivelog.folder archived
hoodie.table.base.file.format PARQUET
hoodie.table.log.file.format HOODIE_LOG
hoodie.spark.sql.insert.into.operation upsert
hoodie.sql.insert.mode upsert
hoodie.sql.bulk.insert.enable false
hoodie.schema.on.read.enable false
hoodie.write.record.positions false
hoodie.write.auto.upgrade false
hoodie.rollback.instant.backup.enabled false
hoodie.logfile.data.block.max.size 268435456
hoodie.hfile.max.file.size 125829120
hoodie.orc.compression.codec ZLIB
hoodie.partition.ttl.inline false
hoodie.partition.ttl.strategy.type KEEP_BY_TIME
hoodie.expression.index.type COLUMN_STATS
hoodie.write.ignore.failed false
hoodie.sensitive.config.keys ssl,tls,sasl
hoodie.write.tagged.record.storage.level MEMORY_AND_DISK_SER
hoodie.combine.before.delete true
hoodie.clean.policy KEEP_LATEST_BY_HOURS
hoodie.datasource.compaction.async.enable true
hoodie.datasource.write.streaming.checkpoint.identifier job
hoodie.write.rolling.metadata.keys owner
hoodie.index.bloom.fpp 0.000000001
hoodie.write.record.merge.mode EVENT_TIME_ORDERING
"""
OPTIONS = _TEXT.splitlines() + _FURTHER.splitlines()
#: Those of each run; the others are of the slow tests.
_OF_EACH_RUN = {*_TEXT.splitlines()[::9], *_FURTHER.splitlines()[::40]}
ROWS = [{"id": 1, "city": "oslo", "ts": 10, "fare": 2.5}, {"id": 2, "city": "rome", "ts": 11, "fare": 3.5}]


def test_there_are_as_many_as_scripts_have() -> None:
    assert len(OPTIONS) == len(set(OPTIONS)) >= 300


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([(1, "oslo", 10, 2.5), (2, "rome", 11, 3.5)], "id INT, city STRING, ts BIGINT, fare DOUBLE")


@pytest.mark.parametrize("option", slow_cases(OPTIONS, {*OPTIONS} - _OF_EACH_RUN))
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
    path = str(tmp_path / "t")
    rows.write.format("hudi").options(**options).option(name, value.replace("{table}", path)).mode("append").save(path)
    assert HudiTable.open(tmp_path / "t").count() == 2

"""Keys about the engine of Apache Hudi itself: its tasks, memory, caches and servers, and the classes that it loads by name.

Those that only tune it are harmless here; a class of one's own would change what is done, so naming one is refused.
"""

from __future__ import annotations

from typing import Final

from pyhudi.spec.config.config_key import ConfigKey, harmless, refused, unserved

#: What a name of Apache Hudi's own class asks for is done in any case.
_MERGERS: Final = ",".join(
    f"org.apache.hudi.{name}"
    for name in (
        "HoodieSparkRecordMerger",
        "DefaultSparkRecordMerger",
        "OverwriteWithLatestSparkRecordMerger",
        "common.model.HoodieAvroRecordMerger",
        "common.model.HoodiePreCombineAvroRecordMerger",
        "common.model.OverwriteWithLatestMerger",
    )
)
_MERGE_HANDLES: Final = ",".join(
    f"org.apache.hudi.io.{name}" for name in ("HoodieMergeHandle", "HoodieWriteMergeHandle", "HoodieSortedMergeHandle")
)
_EXTRACTORS: Final = ",".join(
    f"org.apache.hudi.hive.{name}"
    for name in (
        "MultiPartKeysValueExtractor",
        "SinglePartPartitionValueExtractor",
        "NonPartitionedExtractor",
        "HiveStylePartitionValueExtractor",
    )
)

ENGINE: tuple[ConfigKey, ...] = (
    *harmless(
        "sizes or spreads tasks",
        """
        hoodie.delete.parallelism hoodie.markers.delete.parallelism hoodie.rollback.parallelism
        hoodie.finalize.write.parallelism hoodie.file.listing.parallelism hoodie.archive.delete.parallelism
        hoodie.copyonwrite.insert.split.size hoodie.copyonwrite.insert.auto.split hoodie.copyonwrite.record.size.estimate
        hoodie.record.size.estimator.average.metadata.size hoodie.parquet.compression.ratio
        hoodie.datasource.write.row.writer.enable hoodie.spark.sql.optimized.writes.enable hoodie.fileid.prefix.provider.class
        hoodie.parquet.field_id.write.enabled hoodie.rollback.using.markers hoodie.merge.data.validation.enabled
        hoodie.global.index.reconcile.parallelism
        """,
    ),
    *harmless(
        "tunes memory, caches and queues of Apache Hudi's tasks",
        """
        hoodie.write.buffer.* hoodie.write.executor.* hoodie.write.status.storage.level hoodie.write.tagged.record.storage.level
        hoodie.memory.* hoodie.common.spillable.* hoodie.common.diskmap.* hoodie.cdc.file.group.iterator.memory.spill.bytes
        hoodie.file.index.cache.* hoodie.release.resource.on.completion.enable hoodie.expression.index.range.metadata.storage.level
        """,
    ),
    *harmless(
        "tunes a server, a lease or a thread that pyhudi does not have",
        """
        hoodie.embed.* hoodie.filesystem.* hoodie.fs.* hoodie.consistency.*
        hoodie.optimistic.consistency.* hoodie.time.generator.* hoodie.auto.adjust.lock.configs
        hoodie.refresh.timeline.server.based.on.latest.commit hoodie.write.application.id
        """,
    ),
    *harmless("names options whose values Apache Hudi keeps out of its log; pyhudi logs no values", "hoodie.sensitive.config.keys"),
    *harmless("is so in any case: a write of pyhudi is committed whole, or not at all", "hoodie.write.ignore.failed"),
    *refused(
        "it names Java code of your own that decides on what is written, which Python cannot call",
        """
        hoodie.prewrite.validators hoodie.client.init.callback.classes
        hoodie.avro.write.support.class hoodie.parquet.spark.row.write.support.class hoodie.parquet.write.config.injector.class
        """,
    ),
    *refused(
        "it names Java code of your own that says where files are and how they are opened; pyhudi opens storage by the scheme of the path",
        "hoodie.storage.class hoodie.io.factory.class",
    ),
    *refused("it names Java code of your own that plans compactions, which Python cannot call", "hoodie.compaction.plan.generator"),
    *refused(
        "it names Java code of your own that takes partition values from paths, which Python cannot call",
        f"""
        hoodie.datasource.partition_extractor_class={_EXTRACTORS} hoodie.table.partition_extractor_class={_EXTRACTORS}
        hoodie.datasource.read.partition.value.extractor.enabled=false
        """,
    ),
    *refused(
        "it names Java code of your own that merges records: pyhudi.register_merger registers a merger in Python",
        f"hoodie.write.record.merge.custom.implementation.classes={_MERGERS}",
    ),
    *refused(
        "it names Java code of your own that merges a base file with its changes, which Python cannot call",
        f"hoodie.write.merge.handle.class={_MERGE_HANDLES} hoodie.write.concat.handle.class",
    ),
    *harmless("is about hoodie.write.merge.handle.class, of which no class is loaded", "hoodie.write.merge.handle.fallback"),
    *harmless(
        "is about a class of Apache Hudi that counts what its tasks wrote, or estimates the size of a row",
        "hoodie.writestatus.class hoodie.record.size.estimator.class",
    ),
    *harmless(
        "is about a validator of streams of Apache Hudi that are no Spark streams",
        "hoodie.precommit.validators.streaming.offset.tolerance.percentage",
    ),
    *harmless("is for Apache Flink", "hoodie.parquet.flink.* hoodie.parquet.write.utc-timezone.enabled"),
    *refused(
        "Apache Hudi's own code sets it between its parts",
        """
        hoodie.internal.* hoodie.bulkinsert.schema.ddl hoodie.bulkinsert.overwrite.operation.type
        hoodie.static.overwrite.partition.paths hoodie.write.partial.update.schema
        """,
    ),
    *harmless(
        "is not needed: a commit lists each file once, and what tasks that ran twice left besides is removed before it",
        "hoodie.block.writes.on.speculative.execution hoodie.fail.job.on.duplicate.data.file.detection",
    ),
    *harmless("is so in any case: a rollback is planned once", "hoodie.rollback.avoid.duplicate.plan"),
    *unserved(
        "a rollback leaves no copies of the instants that it removes",
        "hoodie.rollback.instant.backup.enabled=false hoodie.rollback.instant.backup.dir",
    ),
    *harmless(
        "is so in any case: what fails after the commit is logged and in the result of the write, which stays committed",
        "hoodie.write.can.ignore.post.commit.failures",
    ),
    *refused("the metastore server is Apache Hudi's own", "hoodie.metaserver.enabled=false"),
    *harmless("is about a metastore server, which hoodie.metaserver.enabled asks for", "hoodie.metaserver.*"),
)

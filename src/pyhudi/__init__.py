"""Apache Hudi's table format in Python, with PySpark as the engine that moves the data.

`HudiTable` opens, reads and writes a table without Spark; `enable` makes a Spark session speak Hudi, and `disable` undoes that. All names
are imported when they are first asked for, so that `import pyhudi` loads neither pyarrow nor pyspark.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from pyhudi import errors

if TYPE_CHECKING:
    from pyhudi.keygen.user import RecordKeyGenerator, register_key_generator
    from pyhudi.locks.custom_lock import CustomLockProvider, register_lock_provider
    from pyhudi.locks.lock_provider import ProviderLock
    from pyhudi.merge.custom import RecordMerger, register_merger
    from pyhudi.service.archival.archival_result import ArchivalResult
    from pyhudi.service.cleaning.clean_result import CleanResult
    from pyhudi.service.clustering.clustering_result import ClusteringResult
    from pyhudi.service.compaction.compaction_result import CompactionResult
    from pyhudi.service.indexes.change_indexes import IndexChange
    from pyhudi.service.lock_audit_service import LockAuditCleanup, LockAuditReport, LockAuditStatus
    from pyhudi.service.partition_ttl.ttl_result import TtlResult
    from pyhudi.service.reporting.commit_callback import CommitCallback, CommitCallbackMessage, register_commit_callback
    from pyhudi.service.reporting.metrics_reporter import MetricsReporter, register_metrics_reporter
    from pyhudi.service.reporting.stored_metrics import reported_metrics
    from pyhudi.service.rescaling.rescaling_result import RescalingResult
    from pyhudi.service.restore.restore_result import RestoreResult
    from pyhudi.service.savepoint.savepoint_listing import Savepoint
    from pyhudi.service.upgrade.version_change import VersionChange
    from pyhudi.spec.actions.rollback import RollbackPlan
    from pyhudi.sql.enable import disable, enable
    from pyhudi.sync.catalog_sync import CatalogColumn, CatalogEntry, CatalogSync
    from pyhudi.sync.custom_catalog import CatalogProvider, register_catalog
    from pyhudi.sync.sync_result import SyncResult
    from pyhudi.table.change.merge_builder import MergeBuilder
    from pyhudi.table.explain import UpsertExplanation
    from pyhudi.table.find_tables import list_tables
    from pyhudi.table.hudi_table import HudiTable
    from pyhudi.table.inspect.file_status import FileHistory
    from pyhudi.table.repair.repair_result import (
        CleanFilesRepair,
        DanglingFilesRepair,
        DeduplicationResult,
        PartitionRepair,
        PlanRepair,
        PropertyChange,
        StaleInstant,
    )
    from pyhudi.table.scan.table_scan import TableScan
    from pyhudi.table.version.type_table import TypeChange
    from pyhudi.write.options.bulk_partitioner import BulkInsertPartitioner, register_partitioner
    from pyhudi.write.options.validators import PreCommitValidator, register_validator
    from pyhudi.write.write_result import WriteResult

    __version__: str

__all__ = [
    "ArchivalResult",
    "BulkInsertPartitioner",
    "CatalogColumn",
    "CatalogEntry",
    "CatalogProvider",
    "CatalogSync",
    "CleanFilesRepair",
    "CleanResult",
    "ClusteringResult",
    "CommitCallback",
    "CommitCallbackMessage",
    "CompactionResult",
    "CustomLockProvider",
    "DanglingFilesRepair",
    "DeduplicationResult",
    "FileHistory",
    "HudiTable",
    "IndexChange",
    "LockAuditCleanup",
    "LockAuditReport",
    "LockAuditStatus",
    "MergeBuilder",
    "MetricsReporter",
    "PartitionRepair",
    "PlanRepair",
    "PreCommitValidator",
    "PropertyChange",
    "ProviderLock",
    "RecordKeyGenerator",
    "RecordMerger",
    "RescalingResult",
    "RestoreResult",
    "RollbackPlan",
    "Savepoint",
    "StaleInstant",
    "SyncResult",
    "TableScan",
    "TtlResult",
    "TypeChange",
    "UpsertExplanation",
    "VersionChange",
    "WriteResult",
    "__version__",
    "disable",
    "enable",
    "errors",
    "list_tables",
    "register_catalog",
    "register_commit_callback",
    "register_key_generator",
    "register_lock_provider",
    "register_merger",
    "register_metrics_reporter",
    "register_partitioner",
    "register_validator",
    "reported_metrics",
]

_MODULES = {
    "ArchivalResult": "pyhudi.service.archival.archival_result",
    "BulkInsertPartitioner": "pyhudi.write.options.bulk_partitioner",
    "CatalogColumn": "pyhudi.sync.catalog_sync",
    "CatalogEntry": "pyhudi.sync.catalog_sync",
    "CatalogProvider": "pyhudi.sync.custom_catalog",
    "CatalogSync": "pyhudi.sync.catalog_sync",
    "CleanFilesRepair": "pyhudi.table.repair.repair_result",
    "CleanResult": "pyhudi.service.cleaning.clean_result",
    "ClusteringResult": "pyhudi.service.clustering.clustering_result",
    "CommitCallback": "pyhudi.service.reporting.commit_callback",
    "CommitCallbackMessage": "pyhudi.service.reporting.commit_callback",
    "CompactionResult": "pyhudi.service.compaction.compaction_result",
    "CustomLockProvider": "pyhudi.locks.custom_lock",
    "DanglingFilesRepair": "pyhudi.table.repair.repair_result",
    "DeduplicationResult": "pyhudi.table.repair.repair_result",
    "FileHistory": "pyhudi.table.inspect.file_status",
    "HudiTable": "pyhudi.table.hudi_table",
    "IndexChange": "pyhudi.service.indexes.change_indexes",
    "LockAuditCleanup": "pyhudi.service.lock_audit_service",
    "LockAuditReport": "pyhudi.service.lock_audit_service",
    "LockAuditStatus": "pyhudi.service.lock_audit_service",
    "MergeBuilder": "pyhudi.table.change.merge_builder",
    "MetricsReporter": "pyhudi.service.reporting.metrics_reporter",
    "PartitionRepair": "pyhudi.table.repair.repair_result",
    "PlanRepair": "pyhudi.table.repair.repair_result",
    "PreCommitValidator": "pyhudi.write.options.validators",
    "PropertyChange": "pyhudi.table.repair.repair_result",
    "ProviderLock": "pyhudi.locks.lock_provider",
    "RecordKeyGenerator": "pyhudi.keygen.user",
    "RecordMerger": "pyhudi.merge.custom",
    "RescalingResult": "pyhudi.service.rescaling.rescaling_result",
    "RestoreResult": "pyhudi.service.restore.restore_result",
    "RollbackPlan": "pyhudi.spec.actions.rollback",
    "Savepoint": "pyhudi.service.savepoint.savepoint_listing",
    "StaleInstant": "pyhudi.table.repair.repair_result",
    "TableScan": "pyhudi.table.scan.table_scan",
    "SyncResult": "pyhudi.sync.sync_result",
    "TtlResult": "pyhudi.service.partition_ttl.ttl_result",
    "TypeChange": "pyhudi.table.version.type_table",
    "UpsertExplanation": "pyhudi.table.explain",
    "VersionChange": "pyhudi.service.upgrade.version_change",
    "WriteResult": "pyhudi.write.write_result",
    "disable": "pyhudi.sql.enable",
    "enable": "pyhudi.sql.enable",
    "list_tables": "pyhudi.table.find_tables",
    "register_catalog": "pyhudi.sync.custom_catalog",
    "register_commit_callback": "pyhudi.service.reporting.commit_callback",
    "register_key_generator": "pyhudi.keygen.user",
    "register_lock_provider": "pyhudi.locks.custom_lock",
    "register_merger": "pyhudi.merge.custom",
    "register_metrics_reporter": "pyhudi.service.reporting.metrics_reporter",
    "reported_metrics": "pyhudi.service.reporting.stored_metrics",
    "register_partitioner": "pyhudi.write.options.bulk_partitioner",
    "register_validator": "pyhudi.write.options.validators",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("pyhudi")
    if name not in _MODULES:
        # With name and object, Python's traceback suggests the closest name.
        advice = importlib.import_module("pyhudi.table.scan.other_names").OF_PACKAGE.get(name)
        text = f"module 'pyhudi' has no attribute '{name}'" + (f": {advice}" if advice else "")
        raise AttributeError(text, name=name, obj=sys.modules[__name__])
    try:
        return getattr(importlib.import_module(_MODULES[name]), name)
    except ImportError as error:
        if (error.name or "").partition(".")[0] == "pyspark":
            importlib.import_module("pyhudi.spark.pyspark_release").check_pyspark(f"pyhudi.{name}")
        raise


def __dir__() -> list[str]:
    return sorted(globals().keys() | set(__all__))

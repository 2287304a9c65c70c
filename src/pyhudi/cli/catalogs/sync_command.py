"""`sync hive`, `sync glue`: a table is registered in a Hive metastore or in AWS Glue.

Rules: `HiveSyncTool`, `AwsGlueCatalogSyncTool`, `HiveSyncConfig.HiveSyncConfigParams`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import click

from pyhudi.cli.service_command import table_command
from pyhudi.errors import UsageError
from pyhudi.sync import SyncResult
from pyhudi.sync.sync_settings import MODE, CatalogKind
from pyhudi.table.hudi_table import HudiTable

_HIVE: Final = "hoodie.datasource.hive_sync"
#: The options that flags with a value stand for.
_VALUES: Final = {
    "--database": f"{_HIVE}.database",
    "--table": f"{_HIVE}.table",
    "--metastore-uris": f"{_HIVE}.metastore.uris",
    "--sync-mode": MODE,
    "--partitioned-by": f"{_HIVE}.partition_fields",
    "--partition-value-extractor": f"{_HIVE}.partition_extractor_class",
    "--base-file-format": f"{_HIVE}.base_file_format",
    "--batch-sync-num": f"{_HIVE}.batch_num",
    "--spark-version": "hoodie.meta_sync.spark.version",
    "--spark-schema-length-threshold": f"{_HIVE}.schema_string_length_thresh",
    "--table-properties": f"{_HIVE}.table_properties",
    "--serde-properties": f"{_HIVE}.serde_properties",
    "--sync-strategy": f"{_HIVE}.table.strategy",
    "--jdbc-url": f"{_HIVE}.jdbcurl",
    "--user": f"{_HIVE}.username",
    "--pass": f"{_HIVE}.password",
    "--use-jdbc": f"{_HIVE}.use_jdbc",
    "--spark-datasource": f"{_HIVE}.sync_as_datasource",
    "--auto-create-database": f"{_HIVE}.auto_create_database",
    "--incremental": "hoodie.meta.sync.incremental",
    "--use-file-listing-from-metadata": "hoodie.meta.sync.metadata_file_listing",
}
#: The options that flags without a value set to true.
_SWITCHES: Final = {
    "--decode-partition": "hoodie.meta.sync.decode_partition",
    "--conditional-sync": "hoodie.datasource.meta_sync.condition.sync",
    "--ignore-exceptions": f"{_HIVE}.ignore_exceptions",
    "--skip-ro-suffix": f"{_HIVE}.skip_ro_suffix",
    "--support-timestamp": f"{_HIVE}.support_timestamp",
    "--managed-table": f"{_HIVE}.create_managed_table",
    "--omit-metadata-fields": f"{_HIVE}.omit_metadata_fields",
    "--sync-comment": f"{_HIVE}.sync_comment",
    "--recreate-table-on-error": f"{_HIVE}.recreate_table_on_error",
}


def _parameter(flag: str) -> str:
    return f"sync{flag[1:].replace('-', '_')}"


def _refuse_dry_run(*, dry_run: bool) -> None:
    if dry_run:
        raise UsageError("--dry-run: what a sync would do is known once the catalog was asked and changed; leave it out")


def _command(name: str, catalog: str, mode: str | None = None) -> click.Command:
    values = [click.Option([flag, _parameter(flag)], help=f"`{key}`.") for flag, key in _VALUES.items()]
    switches = [click.Option([flag, _parameter(flag)], is_flag=True, default=None, help=f"`{key}`.") for flag, key in _SWITCHES.items()]

    def run(table: HudiTable, options: Mapping[str, str], given: Mapping[str, Any]) -> Sequence[SyncResult]:
        _refuse_dry_run(dry_run=given["dry_run"])
        return table.services.sync(options=dict(options) if mode is None else {MODE: mode, **options})

    option_keys = {_parameter(flag): key for flag, key in (_VALUES | _SWITCHES).items()}
    return table_command(name, f"Register the table at PATH in {catalog}.", run, flags=(*values, *switches), option_keys=option_keys)


@click.group()
def sync() -> None:
    """Register tables in catalogs, or bring their entries there up to date."""


sync.add_command(_command("hive", "a Hive metastore"))
sync.add_command(_command("glue", "AWS Glue", CatalogKind.GLUE))

"""Keys of the synchronisation with catalogs. Rules: `HoodieSyncConfig`, `HiveSyncConfigHolder`, `GlueCatalogSyncClientConfig`."""

from __future__ import annotations

from pyhudi.spec.config.config_key import ConfigKey, Kind, harmless, refused, served, unserved

_HIVE = "hoodie.datasource.hive_sync"
_META = "hoodie.meta.sync"
_GLUE = "hoodie.datasource.meta.sync.glue"

CUSTOM_CATALOG = f"{_META}.custom.**"

SYNC: tuple[ConfigKey, ...] = (
    served(f"{_HIVE}.enable", "Synchronise the table with a catalog after each commit.", Kind.FLAG, "false"),
    served("hoodie.datasource.meta.sync.enable", f"The same as `{_HIVE}.enable`.", Kind.FLAG, "false"),
    served(
        f"{_META}.client.tool.class",
        "The catalogs, with commas: Apache Hudi's classes `HiveSyncTool`, `AwsGlueCatalogSyncTool`; Python's as `module:Class`.",
        default="org.apache.hudi.hive.HiveSyncTool",
    ),
    served(CUSTOM_CATALOG, "Options of a catalog in Python, which alone knows them."),
    served(f"{_HIVE}.mode", "How the catalog is spoken to.", default="hms", choices=("hms", "jdbc", "hiveql", "glue")),
    served(f"{_HIVE}.use_jdbc", f"Without `{_HIVE}.mode`: `jdbc` if true, `hiveql` if false.", Kind.FLAG),
    served(
        f"{_HIVE}.metastore.uris",
        "Addresses of the Hive metastore, with commas; the first that answers is used. On Spark the default is `hive.metastore.uris` of the"
        " session.",
        default="thrift://localhost:9083",
    ),
    served(f"{_HIVE}.database", "The database of the catalog; by default `hoodie.database.name`, else `default`."),
    served(f"{_HIVE}.table", "The name of the table in the catalog; by default `hoodie.table.name`."),
    served(f"{_HIVE}.auto_create_database", "Create the database when it is missing.", Kind.FLAG, "true"),
    served(f"{_HIVE}.base_file_format", "The format of the base files.", default="PARQUET", choices=("PARQUET",)),
    served(f"{_HIVE}.partition_fields", "The partition columns, with commas; by default those of the table."),
    served(
        f"{_HIVE}.partition_extractor_class",
        "Takes the partition values from partition paths: one of Apache Hudi's classes, or a class of Python as `module:Class`.",
    ),
    served(f"{_META}.decode_partition", "URL-decode partition values.", Kind.FLAG, "false"),
    served(f"{_META}.incremental", "Look at the partitions of new commits only; false compares all of them.", Kind.FLAG, "true"),
    served(f"{_META}.metadata_file_listing", "Take partitions from the metadata table if there is one.", Kind.FLAG, "true"),
    served(f"{_META}.no_partition_metadata", "Register no partitions.", Kind.FLAG, "false"),
    served(f"{_META}.touch.partitions.enabled", "Give partitions that were written to a new time of change.", Kind.FLAG, "false"),
    served("hoodie.datasource.meta_sync.condition.sync", "Note a commit only when something else changed.", Kind.FLAG, "false"),
    served("hoodie.datasource.meta.sync.base.path", "The location of the table in the catalog, where it differs from its path."),
    served(
        f"{_HIVE}.table.strategy",
        "Tables of a merge-on-read table: read-optimised (`_ro`) and real-time (`_rt`), or one of them under the bare name.",
        default="ALL",
        choices=("ALL", "RO", "RT"),
    ),
    served(f"{_HIVE}.skip_ro_suffix", "Give the read-optimised table the bare name.", Kind.FLAG, "false"),
    served(f"{_META}.sync_snapshot_with_table_name", "Register the bare name too, as the real-time table.", Kind.FLAG, "true"),
    served(f"{_HIVE}.support_timestamp", "Timestamps are `timestamp` in Hive, and not `bigint`.", Kind.FLAG, "false"),
    served(f"{_HIVE}.omit_metadata_fields", "Leave the meta columns out.", Kind.FLAG, "false"),
    served(f"{_HIVE}.sync_as_datasource", "Register the table as one of Spark's data source `hudi`.", Kind.FLAG, "true"),
    served(f"{_HIVE}.schema_string_length_thresh", "Length of the properties that hold the Spark schema.", Kind.POSITIVE, "4000"),
    served("hoodie.meta_sync.spark.version", "The version of Spark to register."),
    served(f"{_HIVE}.sync_comment", "Register the comments of columns.", Kind.FLAG, "false"),
    served(f"{_HIVE}.table_properties", "Further properties of the table, one `key=value` on each line."),
    served(f"{_HIVE}.serde_properties", "Further properties of the SerDe, one `key=value` on each line."),
    served(f"{_HIVE}.create_managed_table", "Create a managed table, whose files go with it when it is dropped.", Kind.FLAG, "false"),
    served(f"{_HIVE}.batch_num", "Partitions in one call of the catalog.", Kind.POSITIVE, "1000"),
    served(f"{_HIVE}.recreate_table_on_error", "Drop and create the table in the catalog when a change is refused.", Kind.FLAG, "false"),
    served(f"{_HIVE}.ignore_exceptions", "A sync that fails is logged, and not an error.", Kind.FLAG, "false"),
    served(f"{_HIVE}.jdbcurl", "Address of the HiveServer2 for the modes `jdbc` and `hiveql`.", default="jdbc:hive2://localhost:10000"),
    served(f"{_HIVE}.username", "User of the HiveServer2.", default="hive"),
    served(f"{_HIVE}.password", "Password of the HiveServer2.", default="hive"),
    served(f"{_GLUE}.database_name", f"The database of AWS Glue; by default that of `{_HIVE}.database`."),
    served(f"{_GLUE}.table_name", f"The name of the table in AWS Glue; by default that of `{_HIVE}.table`."),
    served(f"{_GLUE}.catalogId", "The catalog of AWS Glue; by default that of the account."),
    served(f"{_GLUE}.skip_table_archive", "Keep no older version of a table of AWS Glue that is changed.", Kind.FLAG, "true"),
    served(f"{_GLUE}.recreate_table_on_error", f"`{_HIVE}.recreate_table_on_error`, for AWS Glue.", Kind.FLAG),
    served(f"{_GLUE}.metadata_file_listing", "Let Athena list files by the metadata table.", Kind.FLAG, "false"),
    served("hoodie.aws.glue.endpoint", "Address of AWS Glue, where it is not that of the region."),
    served("hoodie.aws.glue.region", "Region of AWS Glue; by default `hoodie.aws.region`, then what boto3 finds."),
    served("hoodie.aws.region", "Region of AWS."),
    served("hoodie.aws.access.key", "Access key of AWS; by default boto3 looks for one."),
    served("hoodie.aws.secret.key", "Secret key of AWS."),
    served("hoodie.aws.session.token", "Session token of AWS."),
    *harmless(
        "is not needed: requests to AWS Glue go one after the other",
        f"{_GLUE}.all_partitions_read_parallelism {_GLUE}.changed_partitions_read_parallelism {_GLUE}.partition_change_parallelism",
    ),
    *refused(
        "partition indexes of AWS Glue are not made by a sync; make them once by hand", f"{_GLUE}.partition_index_fields.enable=false"
    ),
    *harmless("belongs to partition_index_fields.enable", f"{_GLUE}.partition_index_fields"),
    *harmless(
        "is not needed: partitions are looked up by their names", f"{_HIVE}.filter_pushdown_enabled {_HIVE}.filter_pushdown_max_size"
    ),
    *harmless("describes an entry of a catalog, which it makes read-optimised", "hoodie.query.as.ro.table"),
    *harmless("belongs to bucket_sync", f"{_HIVE}.bucket_sync_spec"),
    *refused("Hive would rely on buckets that Hudi's hash does not fill", f"{_HIVE}.bucket_sync=false"),
    *harmless("the catalog is reached without Spark's client, at the address that the session states", f"{_HIVE}.use_spark_catalog"),
    *harmless("is read by the tool for replication between clusters alone", "hoodie.meta_sync.global.replicate.timestamp"),
    *unserved(
        "tables are synchronised with Hive's metastore, by Thrift or SQL, and with AWS Glue; not with this catalog",
        f"{_META}.datahub.** hoodie.gcp.** hoodie.spark.polaris.*",
    ),
    *unserved("a sync sets nothing of that name in AWS Glue; set it there", f"{_GLUE}.**"),
    *unserved("boto3 finds the credentials of AWS: name the role in its own configuration", "hoodie.aws.**"),
)

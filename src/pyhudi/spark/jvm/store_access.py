"""Spark's readers use a store on S3 with the settings that pyhudi uses, those of AWS profiles among them.

Spark reads data files by Hadoop's S3A, which knows `fs.s3a.*` and the environment. What pyhudi has from elsewhere is set for the bucket of
the table in the Hadoop configuration of the application, which Spark sends to its tasks. `s3://`, which Hadoop has no file system for, is
served by S3A as well, unless the session names another one. Rules: Hadoop's `S3AUtils.propagateBucketOptions` and
`CredentialProviderListFactory`. A file system that Hadoop has opened keeps its settings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from pyspark.sql import SparkSession

from pyhudi.errors import UnsupportedError
from pyhudi.locks.choose_lock import unprovided
from pyhudi.spark.jvm.error_translation import explain_reads_below
from pyhudi.spark.jvm.jvm import JavaObject, jvm_session
from pyhudi.storage.remote.cloud_options import FAMILIES, store_settings
from pyhudi.storage.remote.cloud_storage import CloudStorage
from pyhudi.storage.storage_protocol import Storage

_PREFIX: Final = "fs.s3a."
_PACKAGE: Final = "org.apache.hadoop.fs.s3a"
_PROVIDER: Final = "aws.credentials.provider"
#: The file that has Hadoop's defaults, as settings say where they are from.
_BY_HADOOP: Final = "core-default.xml"
_PATH_STYLE: Final = "path.style.access"
#: The settings of S3A that obstore has, too, by obstore's names.
_KEYS: Final = {"aws_access_key_id": "access.key", "aws_secret_access_key": "secret.key", "aws_session_token": "session.token"}
_LOCATIONS: Final = {"aws_endpoint": "endpoint", "aws_region": "endpoint.region"}


def prepare_reads(session: SparkSession, storage: Storage) -> str:
    """Let Spark read the files of a table, with errors that pyhudi explains, and return the base path as Hadoop names it.

    Raises:
        UnsupportedError: the JVM cannot reach the storage.
        OptionError: the AWS profile cannot be used.
    """
    base = hadoop_base(storage)
    explain_reads_below(base, storage)
    share_store_settings(session, storage)
    return base


def hadoop_base(storage: Storage) -> str:
    """Return the base path of a table as Hadoop's file systems name it.

    Raises:
        UnsupportedError: the JVM cannot reach the storage.
    """
    scheme, separator, _ = storage.uri.partition("://")
    if not separator:
        return f"file:{storage.uri}"
    if scheme == "memory":
        raise UnsupportedError(f"Spark cannot read {storage.uri}: the table lives in this Python process. Read it with HudiTable.to_arrow.")
    return storage.uri


def share_store_settings(session: SparkSession, storage: Storage) -> None:
    """Let Spark read the files of a storage on S3 as pyhudi does; other storages are left as they are.

    Raises:
        OptionError: the AWS profile cannot be used.
    """
    store = unprovided(storage)
    scheme, _, rest = store.uri.partition("://")
    if not isinstance(store, CloudStorage) or FAMILIES[scheme] != "aws":
        return
    bucket = rest.partition("/")[0]
    hadoop = jvm_session(session).sparkContext().hadoopConfiguration()
    stated = jvm_session(session).sessionState().newHadoopConf()
    implementation = f"{_PACKAGE}.S3AFileSystem"
    if stated.get(f"fs.{scheme}.impl") is None and stated.getClassByNameOrNull(implementation) is not None:
        hadoop.set(f"fs.{scheme}.impl", implementation)
    for name, value in _missing(bucket, store_settings(store.url, dict(store.store_options)), stated):
        hadoop.set(f"{_PREFIX}bucket.{bucket}.{name}", value)


def _missing(bucket: str, settings: Mapping[str, str], stated: JavaObject) -> Iterator[tuple[str, str]]:
    """Yield what the settings of obstore say, and those of the session do not, as settings of S3A for the bucket."""

    def setting(name: str) -> str:
        return str(stated.get(f"{_PREFIX}bucket.{bucket}.{name}") or stated.get(f"{_PREFIX}{name}") or "").strip()

    for name, location in _LOCATIONS.items():
        if name in settings and settings[name].rpartition("://")[2] != setting(location).rpartition("://")[2]:
            yield location, settings[name]
            if location == "endpoint":  # obstore, too, has the bucket in the path then
                yield _PATH_STYLE, str(settings.get("aws_virtual_hosted_style_request") != "true").lower()
    if _names_provider(bucket, stated):
        return
    keys = {key: settings[name] for name, key in _KEYS.items() if name in settings}
    if any(value != setting(key) for key, value in keys.items()):
        yield from keys.items()
        kind = "Temporary" if "session.token" in keys else "Simple"
        yield _PROVIDER, f"{_PACKAGE}.{kind}AWSCredentialsProvider"


def _names_provider(bucket: str, stated: JavaObject) -> bool:
    """Tell whether the session names classes that give the credentials: Hadoop's defaults do not count."""
    sources = stated.getPropertySources(f"{_PREFIX}{_PROVIDER}")
    return stated.get(f"{_PREFIX}bucket.{bucket}.{_PROVIDER}") is not None or (sources is not None and list(sources)[-1] != _BY_HADOOP)

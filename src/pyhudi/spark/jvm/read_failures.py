"""Why a Spark task could not read a base file: a storage that Spark has no class for, one that fails, or a file that is damaged.

Only what was read and could not be decoded is damage. Rules: Hadoop's file systems and the packages that bring them (`hadoop-aws`,
`hadoop-azure`); what a storage that is not served or not reachable raises.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pyhudi.errors import CorruptTableError, HudiError, StorageError

#: Begin the classes of errors of storages and networks.
_STORAGE_ERRORS: Final = (
    "java.net.",
    "java.nio.file.",
    "java.nio.channels.",
    "javax.net.",
    "java.io.InterruptedIOException",
    "java.io.FileNotFoundException",
    "java.lang.ClassNotFoundException",
    "java.lang.NoClassDefFoundError",
    "org.apache.hadoop.fs.s3a.",
    "org.apache.hadoop.fs.azure",
    "org.apache.hadoop.fs.UnsupportedFileSystemException",
    "org.apache.hadoop.fs.PathIOException",
    "org.apache.hadoop.fs.PathPermissionException",
    "org.apache.hadoop.ipc.",
    "org.apache.hadoop.net.",
    "org.apache.hadoop.security.",
    "org.apache.http.",
    "com.amazonaws.",
    "com.google.",
    "com.azure.",
    "software.amazon.",
)
#: What Parquet says of bytes that it read, in an error whose class says no more than that something failed.
_SAYS_DAMAGE: Final = re.compile(r"parquet|can ?not read class|corrupt|magic|checksum|CRC|unexpected end", re.IGNORECASE)
_SAYS_NOTHING: Final = frozenset({"java.io.IOException", "java.io.UncheckedIOException"})
_NO_CLASS: Final = re.compile(r"No FileSystem for scheme \"?([\w+.-]+)|Class (\S*FileSystem\S*) not found|NoClassDefFoundError: (\S+)")

_S3: Final = frozenset({"s3", "s3n", "s3a"})
_AZURE: Final = frozenset({"abfs", "abfss", "wasb", "wasbs", "adl"})
#: Schemes of Python's packages, and what Hadoop calls the same.
_WITHOUT_HADOOP: Final = {"az": "abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/PATH", "gcs": "gs://BUCKET/PATH"}
_OTHER_JARS: Final = {
    "gs": "com.google.cloud.bigdataoss:gcs-connector, its release for Hadoop 3, shaded",
    "oss": "org.apache.hadoop:hadoop-aliyun:{version}",
    "cosn": "org.apache.hadoop:hadoop-cos:{version}",
}


@dataclass(frozen=True, slots=True)
class Cause:
    """One error of a chain of the JVM's: its class and its message."""

    name: str
    message: str


def read_failure(table: str, file: str, causes: Sequence[Cause], hadoop_version: str) -> HudiError:
    """Return the error of a base file that could not be read.

    Args:
        table: base path of the table, as Hadoop writes it.
        file: path below it.
        causes: what was raised, from the outside to the inside; may be empty.
        hadoop_version: that of Spark's Hadoop classes.
    """
    reason = next((cause.message for cause in causes), "").partition("\n")[0]
    scheme = table.partition(":")[0] if ":" in table else "file"
    if any(_NO_CLASS.search(f"{cause.name}: {cause.message}") for cause in causes):
        return StorageError(
            f"Spark cannot read table {table}, which says nothing about the table: {reason}. {jar_advice(scheme, hadoop_version)}"
        )
    if not _is_damage(causes):
        return StorageError(
            f"Base file {file} of table {table} could not be read from its storage, which says nothing about the file: {reason}. Read again"
            " once the storage can be reached with these rights."
        )
    return CorruptTableError(
        f"Base file {file} of table {table} cannot be read, it is damaged or no Parquet file: {reason}. table.inspect.verify() names all"
        " damaged files; put a good copy of each in its place."
    )


def jar_advice(scheme: str, hadoop_version: str) -> str:
    """Return what gives Spark the classes of a storage.

    Example:
        >>> jar_advice("s3a", "3.4.2")
        "Start Spark with .config('spark.jars.packages', 'org.apache.hadoop:hadoop-aws:3.4.2')."
    """
    settings = []
    if scheme in _S3:
        jar = f"org.apache.hadoop:hadoop-aws:{hadoop_version}"
        if scheme != "s3a":
            settings = [f"spark.hadoop.fs.{scheme}.impl=org.apache.hadoop.fs.s3a.S3AFileSystem (or name the table by s3a://)"]
    elif scheme in _WITHOUT_HADOOP:
        return f"Hadoop has no file system for '{scheme}:'; name the table by {_WITHOUT_HADOOP[scheme]}."
    elif scheme in _AZURE:
        jar = f"org.apache.hadoop:hadoop-azure:{hadoop_version}"
    elif scheme in _OTHER_JARS:
        return f"Put the jar {_OTHER_JARS[scheme].format(version=hadoop_version)} on Spark's class path (spark.jars)."
    else:
        return f"Put the jar with Hadoop's file system for '{scheme}:' on Spark's class path (spark.jars)."
    also = f", and set {settings[0]}" if settings else ""
    return f"Start Spark with .config('spark.jars.packages', '{jar}'){also}."


def _is_damage(causes: Sequence[Cause]) -> bool:
    """Tell whether bytes were read that could not be decoded; what nobody knows is no proof of that."""
    if not causes or any(cause.name.startswith(_STORAGE_ERRORS) for cause in causes):
        return False
    return any(cause.name not in _SAYS_NOTHING or _SAYS_DAMAGE.search(cause.message) for cause in causes[-1:]) or any(
        cause.name.startswith("org.apache.parquet.") for cause in causes
    )

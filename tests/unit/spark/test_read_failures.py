"""What the errors of a Spark task that could not read a file say: of the storage, or of the file."""

from __future__ import annotations

import pytest

from pyhudi.errors import CorruptTableError, StorageError
from pyhudi.spark.jvm.read_failures import Cause, jar_advice, read_failure

NO_SCHEME = Cause("org.apache.hadoop.fs.UnsupportedFileSystemException", 'No FileSystem for scheme "s3"')
NO_S3A = "java.lang.ClassNotFoundException: Class org.apache.hadoop.fs.s3a.S3AFileSystem not found"


def error_of(*causes: Cause, table: str = "s3://bucket/trips") -> Exception:
    return read_failure(table, "a/b.parquet", causes, "3.4.2")


@pytest.mark.parametrize(
    ("table", "causes", "says"),
    [
        ("s3://b/t", [NO_SCHEME], "hadoop-aws:3.4.2'), and set spark.hadoop.fs.s3.impl=org.apache.hadoop.fs.s3a.S3AFileSystem"),
        (
            "s3a://b/t",
            [Cause("java.lang.RuntimeException", NO_S3A), Cause("java.lang.ClassNotFoundException", NO_S3A)],
            "hadoop-aws:3.4.2')",
        ),
        ("abfss://c@a/t", [Cause("java.lang.NoClassDefFoundError", "org/apache/hadoop/fs/azurebfs/X")], "hadoop-azure:3.4.2"),
        ("gs://b/t", [Cause("org.apache.hadoop.fs.UnsupportedFileSystemException", 'No FileSystem for scheme "gs"')], "gcs-connector"),
        ("az://c/t", [Cause("org.apache.hadoop.fs.UnsupportedFileSystemException", 'No FileSystem for scheme "az"')], "by abfss://"),
        ("gcs://b/t", [Cause("org.apache.hadoop.fs.UnsupportedFileSystemException", 'No FileSystem for scheme "gcs"')], "by gs://"),
        ("foo://b/t", [Cause("org.apache.hadoop.fs.UnsupportedFileSystemException", 'No FileSystem for scheme "foo"')], "'foo:'"),
    ],
)
def test_missing_jar_is_named_and_says_nothing_of_the_table(table: str, causes: list[Cause], says: str) -> None:
    error = error_of(*causes, table=table)
    assert isinstance(error, StorageError)
    assert "says nothing about the table" in str(error)
    assert says in str(error)


@pytest.mark.parametrize(
    "causes",
    [
        [],
        [Cause("java.net.UnknownHostException", "bucket.s3.example")],
        [Cause("java.nio.file.AccessDeniedException", "s3a://bucket/trips")],
        [Cause("java.io.IOException", "Input/output error")],
        [Cause("java.io.IOException", "Stale file handle")],
        [
            Cause("org.apache.parquet.io.ParquetDecodingException", "Can not read value"),
            Cause("java.net.SocketTimeoutException", "timeout"),
        ],
        [Cause("org.apache.hadoop.security.AccessControlException", "Permission denied: user=x")],
        [Cause("java.lang.RuntimeException", "no"), Cause("software.amazon.awssdk.core.exception.SdkClientException", "no credentials")],
    ],
)
def test_failure_of_the_storage_is_no_damage(causes: list[Cause]) -> None:
    error = error_of(*causes)
    assert isinstance(error, StorageError)
    assert "a/b.parquet of table s3://bucket/trips" in str(error)
    assert "damaged" not in str(error)


@pytest.mark.parametrize(
    "causes",
    [
        [Cause("java.lang.RuntimeException", "file is not a Parquet file. Expected magic number at tail")],
        [Cause("org.apache.parquet.io.ParquetDecodingException", "could not verify page integrity, CRC checksum verification failed")],
        [Cause("java.io.IOException", "can not read class org.apache.parquet.format.FileMetaData: null")],
        [Cause("java.lang.ArrayIndexOutOfBoundsException", "Index 7 out of bounds for length 3")],
        [Cause("java.io.EOFException", "Reached the end of stream")],
        [Cause("com.github.luben.zstd.ZstdIOException", "Unknown frame descriptor")],
    ],
)
def test_bytes_that_could_not_be_decoded_are_damage(causes: list[Cause]) -> None:
    error = error_of(*causes)
    assert isinstance(error, CorruptTableError)
    assert "a/b.parquet of table s3://bucket/trips" in str(error)
    assert "inspect.verify()" in str(error)


def test_jar_of_s3a_needs_no_setting() -> None:
    assert jar_advice("s3a", "3.4.2").endswith("'org.apache.hadoop:hadoop-aws:3.4.2').")

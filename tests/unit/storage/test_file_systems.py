"""Storages that cannot be opened: what is missing is named, and no table is called absent or damaged for it."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from pyhudi import HudiTable
from pyhudi.errors import CorruptTableError, OptionError, StorageError, TableNotFound, UnsupportedError
from pyhudi.storage.lock_files.lock_record import LOCK_FILE_OPTION
from pyhudi.storage.remote.cloud_options import FAMILIES
from pyhudi.storage.remote.file_systems import advice
from pyhudi.storage.remote.object_store import ObjectStorage

core = pytest.importorskip("fsspec.core")
BY_FSSPEC = {"pyhudi.storage": "fsspec"}


@pytest.fixture
def opening(monkeypatch: pytest.MonkeyPatch):
    """Lets every opening of a file system fail with an error."""

    def fails_with(error: Exception) -> None:
        def url_to_fs(url: str, **options: Any) -> Any:
            raise error

        monkeypatch.setattr(core, "url_to_fs", url_to_fs)

    return fails_with


@pytest.mark.parametrize(
    ("scheme", "package"),
    [("s3", "s3fs"), ("s3a", "s3fs"), ("gs", "gcsfs"), ("abfs", "adlfs"), ("abfss", "adlfs"), ("oss", "ossfs"), ("hf", "huggingface_hub")],
)
def test_package_that_is_missing_is_named(opening, scheme: str, package: str) -> None:
    for error in (ImportError("Install something"), ValueError(f"Protocol not known: {scheme}")):
        opening(error)
        with pytest.raises(StorageError, match=rf"says nothing about the table in it.*pip install {package}$") as caught:
            HudiTable.open(f"{scheme}://bucket/trips", BY_FSSPEC if scheme in FAMILIES else None)
        assert not isinstance(caught.value, CorruptTableError | TableNotFound)


def test_fsspec_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(StorageError, match=r"pip install 'pyhudi\[object-store\]' s3fs"):
        HudiTable.open("s3://bucket/trips", BY_FSSPEC)


@pytest.mark.parametrize(("scheme", "says"), [("wasbs", "by abfss://"), ("foo", "install the fsspec package")])
def test_scheme_that_nothing_serves_is_unsupported(scheme: str, says: str) -> None:
    with pytest.raises(UnsupportedError, match=f"no storage serves '{scheme}:'.*{says}"):
        HudiTable.open(f"{scheme}://bucket/trips")


@pytest.mark.parametrize(
    "error", [OSError("Unable to load libhdfs"), ConnectionRefusedError(111, "refused"), RuntimeError("no credentials")]
)
def test_other_failures_of_opening_are_of_the_storage(opening, error: Exception) -> None:
    opening(error)
    with pytest.raises(StorageError, match=f"{type(error).__name__}: .*{error.args[-1]}"):
        HudiTable.open("hdfs://name:9000/trips")
    assert "libhdfs" in advice("hdfs")


def test_options_that_the_file_system_does_not_take_are_refused(opening) -> None:
    opening(TypeError("unexpected keyword argument 'kee'"))
    with pytest.raises(OptionError, match="'kee'"):
        HudiTable.open("s3://bucket/trips", {**BY_FSSPEC, "kee": "x"})


def test_bucket_that_is_not_there_is_absence_to_reads_and_a_failure_to_writes(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    """As s3fs answers: every call about a bucket that is not there raises FileNotFoundError."""

    class NoBucket:
        def invalidate_cache(self) -> None:
            pass

        def __getattr__(self, name: str):
            def call(*_: Any, **__: Any) -> None:
                raise FileNotFoundError("The specified bucket does not exist")

            return call

    monkeypatch.setattr(core, "url_to_fs", lambda url, **options: (NoBucket(), "bucket/trips"))
    with pytest.raises(TableNotFound, match="s3://bucket/trips"):
        HudiTable.open("s3://bucket/trips", BY_FSSPEC)
    storage = ObjectStorage("s3://bucket/trips", ((LOCK_FILE_OPTION, str(tmp_path / "lock")),))
    for write in (storage.create, storage.replace):
        with pytest.raises(StorageError, match=r"'a/b' of table s3://bucket/trips.*bucket or container does not exist"):
            write("a/b", b"1")
    with pytest.raises(StorageError, match="bucket or container does not exist"), storage.open_output("a/b"):
        pass

"""Tables on S3, Google Cloud Storage and Azure: the promises of a storage, options, errors, and a whole table."""

from __future__ import annotations

import os
import pickle
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pyhudi.errors import AlreadyExistsError, ConflictError, OptionError, StorageError, TableNotFound
from pyhudi.locks.choose_lock import with_lock_provider
from pyhudi.spec.options import resolve
from pyhudi.storage.lock_files.lock_record import LOCK_FILE_OPTION
from pyhudi.storage.open_storage import open_source_folder, open_storage
from pyhudi.storage.remote import cloud_client, object_store
from pyhudi.storage.remote.cloud_client import open_store, store_errors
from pyhudi.storage.remote.cloud_options import client_timeouts, store_settings
from pyhudi.storage.remote.cloud_storage import CloudStorage
from pyhudi.storage.remote.object_store import ObjectStorage
from pyhudi.storage.table_properties import BACKUP, PROPERTIES, load_properties, store_properties
from pyhudi.table.hudi_table import HudiTable
from pyhudi.testing.storage_suite import StorageSuite
from tests.unit.storage.cloud_store import LOCK, CountingObstore, new_url, serve_from_memory

obstore = pytest.importorskip("obstore")
NOW = datetime(2026, 1, 1, tzinfo=UTC)
SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string()})
NO_SERVER = {"endpoint_url": "http://127.0.0.1:9", "key": "a", "secret": "b"}


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> CountingObstore:
    return serve_from_memory(monkeypatch)


class TestCloudStorage(StorageSuite):
    @pytest.fixture
    def storage(self, tmp_path: Path, requests: CountingObstore) -> CloudStorage:
        return CloudStorage(new_url(), ((LOCK_FILE_OPTION, str(tmp_path / "lock")),))


def test_large_data_file_is_not_written_over_another(requests: CountingObstore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyhudi.storage.remote.cloud_storage._ONE_PUT_BYTES", 10)
    storage = CloudStorage(new_url())
    with storage.open_output("p/data") as sink:
        sink.write(b"x" * 100)
    assert storage.read("p/data") == b"x" * 100
    with pytest.raises(AlreadyExistsError, match=r"'p/data' of table s3://bucket"), storage.open_output("p/data") as sink:
        sink.write(b"y" * 100)


@pytest.mark.parametrize("name", ["a.parquet", "a.log"])
@pytest.mark.parametrize("size", [0, 1, 300_000, 3_000_000])
def test_objects_of_any_size_are_read_at_any_position(requests: CountingObstore, name: str, size: int) -> None:
    storage, data = CloudStorage(new_url()), os.urandom(size)
    storage.create(name, data)
    with storage.open_input(name) as source:
        assert source.read() == data
        source.seek(size // 3)
        assert source.read(1000) == data[size // 3 :][:1000]
        source.seek(-min(size, 70), 2)
        assert source.read() == data[size - min(size, 70) :]
        source.seek(0)
        assert b"".join(iter(lambda: source.read(70_000), b"")) == data
        assert source.tell() == size


def test_small_object_is_read_by_one_request(requests: CountingObstore) -> None:
    storage = CloudStorage(new_url())
    storage.create("a.parquet", b"x" * 100_000)
    requests.requests.clear()
    with storage.open_input("a.parquet") as source:
        source.seek(-8, 2)
        source.read(8)
        source.seek(0)
        assert len(source.read()) == 100_000
    assert requests.requests == [("GET", "a.parquet")]


def test_version_that_was_replaced_is_not_replaced_again(requests: CountingObstore) -> None:
    storage = CloudStorage(new_url())
    created = storage.replace_version("lock", b"1", None, None)
    assert created is not None
    assert storage.replace_version("lock", b"2", None, None) is None
    assert storage.replace_version("lock", b"2", *created) is not None
    assert storage.replace_version("lock", b"3", *created) is None
    assert storage.read_version("lock")[0] == b"2"


def test_of_two_changes_of_the_properties_at_the_same_time_one_is_refused(
    requests: CountingObstore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have read the properties; the lock of one of them has expired."""
    url = new_url()
    HudiTable.create(url, SCHEMA, name="rides", keys=["id"])
    storage = CloudStorage(url)
    put = requests.put

    def change_first(store: Any, path: str, data: bytes, **named: Any) -> Any:
        if path == PROPERTIES:
            monkeypatch.undo()
            serve_again()
            storage.delete(BACKUP)
            store_properties(storage, {"hoodie.other": "1"}, NOW)
        return put(store, path, data, **named)

    open_again, functions = cloud_client.open_store, cloud_client.obstore_functions

    def serve_again() -> None:
        monkeypatch.setattr(cloud_client, "open_store", open_again)
        monkeypatch.setattr(cloud_client, "obstore_functions", functions)

    monkeypatch.setattr(requests, "put", change_first, raising=False)
    with pytest.raises(ConflictError, match=r"'\.hoodie/hoodie\.properties' of table s3://bucket.* was changed by another process"):
        store_properties(storage, {"hoodie.mine": "1"}, NOW)
    properties = load_properties(storage)
    assert properties["hoodie.other"] == "1"
    assert "hoodie.mine" not in properties
    assert storage.stat(BACKUP) is None


def test_replacement_whose_answer_was_lost_counts(requests: CountingObstore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client repeats the request, and the store refuses the second one: the tag is that of the first."""
    storage = CloudStorage(new_url())
    storage.create("a", b"one")
    put = requests.put

    def put_twice(*arguments: Any, **named: Any) -> Any:
        put(*arguments, **named)
        return put(*arguments, **named)

    monkeypatch.setattr(requests, "put", put_twice, raising=False)
    storage.replace("a", b"two", expected=b"one")
    assert storage.read("a") == b"two"


def test_a_table_is_written_under_a_lock_of_the_store(requests: CountingObstore) -> None:
    url = new_url()
    table = HudiTable.create(url, SCHEMA, name="rides", keys=["id"], partition_by=["city"])
    table.insert([{"id": 1, "city": "oslo"}, {"id": 2, "city": "rome"}])
    HudiTable.open(url).upsert([{"id": 3, "city": "rome"}])
    table.delete(where="id = 1")
    assert sorted(row["id"] for row in HudiTable.open(url).to_arrow().to_pylist()) == [2, 3]
    names = open_storage(url).file_names(".hoodie/.locks")
    assert "table_lock.json" in names
    assert any(name.startswith("pyhudi-lock-provider-") for name in names)


def test_a_write_takes_and_releases_the_lock_by_three_requests(requests: CountingObstore) -> None:
    url = new_url()
    HudiTable.create(url, SCHEMA, name="rides", keys=["id"])
    for key in (1, 2, 3):
        table = HudiTable.open(url)
        requests.requests.clear()
        table.upsert([{"id": key, "city": "oslo"}])
        assert requests.of_lock() == ["GET", "PUT", "PUT"]


def test_a_writer_with_another_lock_is_refused(requests: CountingObstore, tmp_path: Path) -> None:
    url = new_url()
    HudiTable.create(url, SCHEMA, name="rides", keys=["id"]).insert([{"id": 1, "city": "oslo"}])
    with pytest.raises(OptionError, match="StorageBasedLockProvider"):
        HudiTable.open(url, {LOCK_FILE_OPTION: str(tmp_path / "lock")}).insert([{"id": 2, "city": "oslo"}])
    in_process = {"hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider"}
    HudiTable.open(url).insert([{"id": 2, "city": "oslo"}], options=in_process)  # takes the lock of the store as well
    assert HudiTable.open(url).to_arrow().num_rows == 2
    assert requests.requests.count(("PUT", LOCK)) >= 4
    HudiTable.open(url).insert([{"id": 3, "city": "oslo"}], options={"hoodie.write.lock.storage.validity.timeout.secs": "600"})
    with pytest.raises(OptionError, match=r"hoodie\.write\.lock\.zookeeper\.url is an option of"):
        HudiTable.open(url).insert([{"id": 4, "city": "oslo"}], options={"hoodie.write.lock.zookeeper.url": "localhost:1"})


@pytest.mark.parametrize(
    ("url", "options", "settings"),
    [
        ("s3a://b/t", {"fs.s3a.access.key": "A", "fs.s3a.secret.key": "B"}, {"aws_access_key_id": "A", "aws_secret_access_key": "B"}),
        ("s3://b/t", {"anon": True}, {"aws_skip_signature": "true"}),
        ("s3://b/t", {"anon": True, "client_kwargs": {"endpoint_url": "e"}}, {"aws_skip_signature": "true", "aws_endpoint": "e"}),
        ("s3://b/t", {"key": "A", "AWS_REGION": "eu"}, {"aws_access_key_id": "A", "aws_region": "eu"}),
        ("gs://b/t", {"token": "/key.json", "project": "p"}, {"google_service_account": "/key.json"}),
        ("gs://b/t", {"token": "anon"}, {"google_skip_signature": "true"}),
        (
            "gcs://b/t",
            {"endpoint_url": "http://h:1", "google_bearer_token": "T"},
            {"google_base_url": "http://h:1", "google_bearer_token": "T"},
        ),
        ("az://c/t", {"account_name": "a", "endpoint_url": "e"}, {"azure_storage_account_name": "a", "azure_storage_endpoint": "e"}),
        ("abfss://c@a.dfs.core.windows.net/t", {"account_key": "K"}, {"azure_storage_account_key": "K"}),
    ],
)
def test_options_of_fsspec_hadoop_and_obstore_are_understood(url: str, options: dict[str, Any], settings: dict[str, str]) -> None:
    assert store_settings(url, options) == settings


def test_profile_gives_what_options_and_environment_do_not(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    credentials, config = tmp_path / "credentials", tmp_path / "config"
    credentials.write_text("[default]\naws_access_key_id = D\n[work]\naws_access_key_id = W\naws_secret_access_key = S\n")
    config.write_text("[profile work]\nregion = eu-north-1\n[profile sso]\nsso_session = x\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(credentials))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    work = {"aws_access_key_id": "W", "aws_secret_access_key": "S", "aws_region": "eu-north-1"}
    assert store_settings("s3://b/t", {"profile": "work"}) == work
    assert store_settings("s3://b/t", {}) == {"aws_access_key_id": "D"}
    assert store_settings("s3://b/t", {"key": "A"}) == {"aws_access_key_id": "A"}
    with pytest.raises(OptionError, match=r"'sso' has its credentials by 'sso_session'.*export-credentials --profile sso"):
        store_settings("s3://b/t", {"profile": "sso"})
    with pytest.raises(OptionError, match="no profile 'home'"):
        store_settings("s3://b/t", {"profile": "home"})


def test_misspelt_option_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(OptionError, match=r"'secrt' of table s3://b/t is not known; did you mean 'secret'\?.*pyhudi\.storage"):
        open_storage("s3://b/t", {"secrt": "x"})
    with pytest.raises(OptionError, match="aws_nonsense"):
        open_storage("s3://b/t", {"aws_nonsense": "x"})
    with pytest.raises(OptionError, match="it can be obstore or fsspec"):
        open_storage("s3://b/t", {"pyhudi.storage": "boto"})


def test_options_say_how_long_a_request_may_take() -> None:
    assert client_timeouts({}) == {"timeout": "300000ms", "connect_timeout": "5000ms"}
    assert client_timeouts({"timeout": "2.5s", "client_kwargs": {"connect_timeout": 1}}) == {
        "timeout": "2500ms",
        "connect_timeout": "1000ms",
    }
    assert isinstance(open_storage("s3://b/t", {"timeout": "30", "key": "A", "secret": "B"}), CloudStorage)
    for wrong in ("0", "-1", "soon", "", "1m"):
        with pytest.raises(OptionError, match="storage option 'timeout' must be a number of seconds above 0"):
            open_storage("s3://b/t", {"timeout": wrong})


def test_option_chooses_fsspec(monkeypatch: pytest.MonkeyPatch) -> None:
    options_given: list[dict[str, Any]] = []

    def open_file_system(url: str, options: dict[str, Any]) -> tuple[Any, str]:
        options_given.append(dict(options))
        return None, url

    monkeypatch.setattr(object_store, "open_file_system", open_file_system)
    assert isinstance(open_storage("s3://b/t", {"pyhudi.storage": "fsspec", "anything": "x"}), ObjectStorage)
    assert options_given == [{"anything": "x"}]
    assert isinstance(open_storage("s3://b/t", {"key": "A", "secret": "B"}), CloudStorage)


def test_secrets_are_not_shown_and_tasks_get_them() -> None:
    storage = open_storage("s3://b/t", {"key": "A", "secret": "hunter2"})
    assert "hunter2" not in repr(storage)
    assert pickle.loads(pickle.dumps(storage)) == storage


@pytest.mark.parametrize(
    ("class_name", "text", "says"),
    [
        ("PermissionDeniedError", "403 Forbidden", "Check the credentials"),
        ("GenericError", "<Code>ExpiredToken</Code>", "Check the credentials"),
        ("GenericError", "404 <Code>NoSuchBucket</Code>", "bucket or container does not exist"),
        ("GenericError", "404 <Code>ContainerNotFound</Code>", "bucket or container does not exist"),
        ("GenericError", "Error performing PUT http://169.254.169.254/latest/api/token", "table s3://b/t: no credentials were found"),
        ("GenericError", "301 PermanentRedirect", "another region"),
        ("GenericError", "HTTP error: error sending request\n\nDebug source:\nkind: Timeout", "option 'timeout', 300 seconds by default"),
    ],
)
def test_errors_of_the_store_say_what_to_check(class_name: str, text: str, says: str) -> None:
    error = type(class_name, (Exception,), {})(f"{text}\n\nDebug source:\nRetryError(...)")
    with pytest.raises(StorageError, match=says) as caught, store_errors("s3://b/t", "a/b"):
        raise error
    assert "'a/b' of table s3://b/t" in str(caught.value)
    assert "Debug" not in str(caught.value)


def test_missing_bucket_is_absence_to_reads_and_a_failure_to_writes() -> None:
    with pytest.raises(FileNotFoundError), store_errors("s3://b/t", "a"):
        raise FileNotFoundError
    with pytest.raises(StorageError, match="bucket or container does not exist"), store_errors("s3://b/t", "a", writes=True):
        raise FileNotFoundError


def test_answer_that_names_a_missing_bucket_is_no_absence_of_a_file() -> None:
    with pytest.raises(StorageError, match="bucket or container does not exist"), store_errors("s3://b/t", "a"):
        raise FileNotFoundError("404 Not Found: <Error><Code>NoSuchBucket</Code></Error>")


def test_credentials_that_expire_under_the_lock_leave_nothing_visible(requests: CountingObstore, monkeypatch: pytest.MonkeyPatch) -> None:
    url = new_url()
    HudiTable.create(url, SCHEMA, name="rides", keys=["id"]).insert([{"id": 1, "city": "oslo"}])
    put = requests.put

    def expire(store: Any, path: str, *arguments: Any, **named: Any) -> Any:
        if path.startswith(".hoodie/timeline/") and path.endswith(".commit"):
            raise PermissionError("<Code>ExpiredToken</Code>")
        return put(store, path, *arguments, **named)

    monkeypatch.setattr(requests, "put", expire, raising=False)
    with pytest.raises(StorageError, match=r"ExpiredToken.*Check the credentials.*'token'"):
        HudiTable.open(url).insert([{"id": 2, "city": "rome"}])
    assert HudiTable.open(url).count() == 1
    monkeypatch.setattr(requests, "put", put, raising=False)
    HudiTable.open(url).insert([{"id": 3, "city": "rome"}])
    assert sorted(HudiTable.open(url).to_arrow()["id"].to_pylist()) == [1, 3]


def test_open_of_an_empty_store_is_no_table(requests: CountingObstore) -> None:
    with pytest.raises(TableNotFound):
        HudiTable.open(new_url())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_forked_child_of_a_process_that_used_a_store_is_refused_and_does_not_wait() -> None:
    open_store("s3://b/t", tuple(sorted(NO_SERVER.items())))
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            open_store("s3://b/other", tuple(sorted(NO_SERVER.items())))
        except StorageError as error:
            os.write(write_end, str(error).encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(write_end)
    assert b"start processes by 'spawn'" in os.read(read_end, 4096)


def test_source_folder_is_opened_with_the_credentials_of_the_table_also_by_writers() -> None:
    table = open_storage("s3://b/t", {"key": "A", "secret": "B"})
    writer = with_lock_provider(table, resolve({}))
    assert writer != table
    for storage in (table, writer):
        assert open_source_folder(storage, "s3://b/source") == CloudStorage("s3://b/source", (("key", "A"), ("secret", "B")))
    assert open_source_folder(table, "/local/source").uri == "/local/source"


@pytest.mark.parametrize("name", ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"])
def test_an_address_of_the_environment_may_be_a_plain_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cloud_client, "_RETRIES", {"max_retries": 0})
    for variable, value in {"AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "B", name: "http://127.0.0.1:1"}.items():
        monkeypatch.setenv(variable, value)
    with pytest.raises(StorageError, match=r"127\.0\.0\.1:1/.*error sending request"):
        CloudStorage(f"s3://bucket/{name}").list("")

"""The settings of a session (`fs.s3a.*`) as storage options of tables on S3."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pyhudi.storage.open_storage import open_storage
from pyhudi.storage.remote.cloud_storage import CloudStorage
from pyhudi.storage.remote.hadoop_settings import use_settings_of, with_session_settings

pytest.importorskip("obstore")
SETTINGS = {
    "fs.s3a.access.key": "A",
    "fs.s3a.secret.key": "S",
    "fs.s3a.endpoint": "localhost:9000",
    "fs.s3a.connection.ssl.enabled": "false",
    "fs.s3a.bucket.other.access.key": "B",
}
KEYS = {"fs.s3a.access.key": "A", "fs.s3a.secret.key": "S"}
WHERE = {"fs.s3a.endpoint": "http://localhost:9000"}


@pytest.fixture
def session() -> Iterator[dict[str, str]]:
    settings = dict(SETTINGS)
    use_settings_of(lambda: settings.get)
    yield settings
    use_settings_of(None)


def test_session_states_what_options_leave_open(session: dict[str, str]) -> None:
    assert with_session_settings("s3a://b/t", {}) == KEYS | WHERE
    assert with_session_settings("s3://other/t", {}) == KEYS | WHERE | {"fs.s3a.access.key": "B"}
    assert with_session_settings("s3://b/t", {"key": "K"}) == WHERE | {"key": "K"}
    assert with_session_settings("s3://b/t", {"region": "eu"}) == KEYS | WHERE | {"region": "eu"}
    assert with_session_settings("s3://b/t", {"endpoint_url": "e"}) == KEYS | {"endpoint_url": "e"}
    assert with_session_settings("gs://b/t", {}) == {}
    session["fs.s3a.endpoint"] = "https://store:1"
    assert with_session_settings("s3://b/t", {"profile": "p"}) == {"fs.s3a.endpoint": "https://store:1", "profile": "p"}


def test_anonymous_provider_of_a_session_signs_nothing() -> None:
    provider = {"fs.s3a.aws.credentials.provider": "org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider"}
    use_settings_of(lambda: provider.get)
    try:
        assert with_session_settings("s3a://b/t", {}) == {"anon": "true"}
    finally:
        use_settings_of(None)


def test_tables_are_opened_with_the_settings_of_the_session_while_there_is_one(session: dict[str, str]) -> None:
    storage = open_storage("s3a://b/t")
    assert isinstance(storage, CloudStorage)
    assert dict(storage.options) == KEYS | WHERE
    use_settings_of(lambda: None)
    assert open_storage("s3a://b/t", {"anon": "true"}) == CloudStorage("s3a://b/t", (("anon", "true"),))

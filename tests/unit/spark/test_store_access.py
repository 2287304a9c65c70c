"""What Spark's readers of S3 are given: the settings that pyhudi has and the session does not state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from pyspark.sql import SparkSession

from pyhudi.spark.jvm import store_access
from pyhudi.spark.jvm.store_access import share_store_settings
from pyhudi.storage.open_storage import open_storage

KEYS = {"key": "A", "secret": "B"}
HADOOP = {"fs.s3a.impl": "S3A", "fs.s3a.aws.credentials.provider": "of Hadoop's defaults"}


class Configuration:
    """Hadoop's configuration, as a session and its application have it."""

    def __init__(self, settings: Mapping[str, str], *, has_s3a: bool = True) -> None:
        self.settings, self.shared, self._has_s3a = {**HADOOP, **settings}, dict[str, str](), has_s3a

    def get(self, name: str) -> str | None:
        return self.settings.get(name)

    def set(self, name: str, value: str) -> None:
        self.shared[name] = value

    def getPropertySources(self, name: str) -> list[str] | None:  # noqa: N802
        return (
            None if name not in self.settings else ["core-default.xml" if self.settings[name] == HADOOP.get(name) else "programmatically"]
        )

    def getClassByNameOrNull(self, name: str) -> object | None:  # noqa: N802 - Hadoop's name
        return name if self._has_s3a else None

    # The session and the application, of which only the configuration counts.
    def sparkContext(self) -> Configuration:  # noqa: N802
        return self

    sessionState = hadoopConfiguration = newHadoopConf = sparkContext  # noqa: N815


def shared(monkeypatch: pytest.MonkeyPatch, url: str, options: dict[str, Any], configuration: Configuration) -> dict[str, str]:
    monkeypatch.setattr(store_access, "jvm_session", lambda _: configuration)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "of the environment")
    share_store_settings(SparkSession.__new__(SparkSession), open_storage(url, options))
    return {name.removeprefix("fs.s3a.bucket.b."): value for name, value in configuration.shared.items()}


def test_keys_that_the_session_does_not_state_are_those_of_the_bucket(monkeypatch: pytest.MonkeyPatch) -> None:
    given = shared(monkeypatch, "s3a://b/t", KEYS, Configuration({}))
    assert given == {
        "access.key": "A",
        "secret.key": "B",
        "aws.credentials.provider": "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider",
    }
    given = shared(monkeypatch, "s3a://b/t", {**KEYS, "token": "C"}, Configuration({}))
    assert given["session.token"] == "C"
    assert given["aws.credentials.provider"] == "org.apache.hadoop.fs.s3a.TemporaryAWSCredentialsProvider"


def test_an_address_has_the_bucket_in_its_paths_as_for_obstore(monkeypatch: pytest.MonkeyPatch) -> None:
    address = {"endpoint_url": "http://localhost:9000", "region": "eu-north-1"}
    given = shared(monkeypatch, "s3a://b/t", address, Configuration({}))
    assert given == {"endpoint": "http://localhost:9000", "endpoint.region": "eu-north-1", "path.style.access": "true"}
    given = shared(monkeypatch, "s3a://b/t", {**address, "aws_virtual_hosted_style_request": "true"}, Configuration({}))
    assert given["path.style.access"] == "false"


@pytest.mark.parametrize("prefix", ["fs.s3a.", "fs.s3a.bucket.b."])
def test_what_the_session_states_is_left_as_it_is(prefix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stated = {"access.key": "A", "secret.key": "B", "endpoint": "localhost:9000", "endpoint.region": "r"}
    options = {**KEYS, "endpoint_url": "http://localhost:9000", "region": "r"}
    configuration = Configuration({f"{prefix}{name}": value for name, value in stated.items()})
    assert shared(monkeypatch, "s3a://b/t", options, configuration) == {}


@pytest.mark.parametrize("name", ["fs.s3a.aws.credentials.provider", "fs.s3a.bucket.b.aws.credentials.provider"])
def test_a_provider_of_credentials_that_the_session_names_is_left_to_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {**KEYS, "region": "eu-north-1"}
    assert shared(monkeypatch, "s3a://b/t", options, Configuration({name: "of a role"})) == {"endpoint.region": "eu-north-1"}


def test_s3_is_served_by_s3a_where_nothing_else_serves_it(monkeypatch: pytest.MonkeyPatch) -> None:
    s3a = {"fs.s3.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem"}
    assert shared(monkeypatch, "s3://b/t", {}, Configuration({})) == s3a
    assert shared(monkeypatch, "s3://b/t", {}, Configuration({"fs.s3.impl": "of the cluster"})) == {}
    assert shared(monkeypatch, "s3://b/t", {}, Configuration({}, has_s3a=False)) == {}


@pytest.mark.parametrize("url", ["gs://b/t", "/b/t"])
def test_other_storages_are_left_as_they_are(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shared(monkeypatch, url, {}, Configuration({})) == {}

"""JDBC URLs of Hive, and logins."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pyhudi.errors import HudiError, OptionError, UnsupportedError
from pyhudi.spec.options import resolve
from pyhudi.sync import server_client
from pyhudi.sync.server_client import connect_server, connection_arguments


@pytest.mark.parametrize(
    ("url", "arguments"),
    [
        ("jdbc:hive2://hive", {"host": "hive", "port": 10000, "auth_mechanism": "PLAIN"}),
        ("jdbc:hive2://hive:1/db;ssl=true", {"host": "hive", "port": 1, "auth_mechanism": "PLAIN", "use_ssl": True}),
        ("jdbc:hive2://[::1]:1", {"host": "::1", "port": 1, "auth_mechanism": "PLAIN"}),
        (
            "jdbc:hive2://hive:1/db;user=ann;password=x?hive.exec.parallel=true#a=b",
            {"host": "hive", "port": 1, "auth_mechanism": "PLAIN", "user": "ann", "password": "x"},
        ),
        (
            "jdbc:hive2://hive:1/;transportMode=http;httpPath=gate",
            {"host": "hive", "port": 1, "auth_mechanism": "PLAIN", "use_http_transport": True, "http_path": "gate"},
        ),
    ],
)
def test_a_url_says_how_the_server_is_reached(url: str, arguments: dict[str, Any]) -> None:
    assert connection_arguments(url) == arguments


@pytest.mark.parametrize(
    ("url", "error", "reason"),
    [
        ("thrift://hive:1", OptionError, "jdbc:hive2://host:port"),
        ("jdbc:hive2://", OptionError, "jdbc:hive2://host:port"),
        ("jdbc:hive2://hive:door", OptionError, "jdbcurl=jdbc:hive2://hive:door"),
        ("jdbc:hive2://hive:1/;principal=hive/_HOST@X", UnsupportedError, "principal"),
        ("jdbc:hive2://a:1,b:2/;serviceDiscoveryMode=zooKeeper", UnsupportedError, "serviceDiscoveryMode is not served"),
        ("jdbc:hive2://hive:1/;auth=Kerberos", UnsupportedError, "auth=Kerberos is not served"),
        ("jdbc:hive2://hive:1/;ssl=true;sslTrustStore=/a.jks;trustStorePassword=b", UnsupportedError, "certificate is not verified"),
    ],
)
def test_a_url_that_cannot_be_served_is_named(url: str, error: type[HudiError], reason: str) -> None:
    with pytest.raises(error, match=reason):
        connection_arguments(url)


@pytest.mark.parametrize(
    ("options", "url", "login"),
    [
        ({}, "jdbc:hive2://hive", ("hive", "hive")),
        ({"username": "", "password": ""}, "jdbc:hive2://hive", ("anonymous", "anonymous")),
        ({"username": "bob"}, "jdbc:hive2://hive:1/db;user=ann;password=x", ("ann", "x")),
    ],
)
def test_an_empty_login_is_the_one_of_hives_driver(
    options: dict[str, str], url: str, login: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    logins: list[dict[str, Any]] = []
    monkeypatch.setattr(server_client, "load_driver", lambda: SimpleNamespace(connect=lambda **arguments: logins.append(arguments)))
    stated = {f"hoodie.datasource.hive_sync.{name}": text for name, text in {**options, "jdbcurl": url}.items()}
    connect_server(resolve(stated))
    assert [(one["user"], one["password"]) for one in logins] == [login]

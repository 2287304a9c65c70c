"""The connection with a HiveServer2: Thrift, with the package impyla. Its errors become `CatalogError`."""

from __future__ import annotations

import contextlib
import importlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from pyhudi.errors import CatalogError, OptionError, UnsupportedError
from pyhudi.repeated_calls import repeated
from pyhudi.spec.options import Options
from pyhudi.sync.sync_settings import JDBC_URL

_PREFIX: Final = "jdbc:hive2://"
_PORT: Final = 10_000
_TIMEOUT_S: Final = 600
_NOBODY: Final = "anonymous"  # an empty user or password, as Hive's JDBC driver sends it: SASL refuses an empty one
#: Variables of a URL that change how a server is reached, and that no package of Python serves here.
_UNSERVED: Final = (
    *("principal", "kerberosAuthType", "saslQop", "sasl.qop", "delegationToken"),
    *("serviceDiscoveryMode", "zooKeeperNamespace", "twoWay", "sslKeyStore", "jwt"),
)
#: Values of the variable `auth`, in lower case, that ask for another login than a name and a password.
_UNSERVED_LOGINS: Final = frozenset(("kerberos", "delegationtoken", "jwt", "browser", "maprsasl"))
_TRUST: Final = "sslTrustStore"


@dataclass(frozen=True, slots=True)
class ServerClient:
    """A connected client."""

    url: str
    connection: Any

    def execute(self, sql: str, action: str) -> None:
        """Run a statement that returns no rows and does no harm when it runs twice: again while the server's metastore fails inside.

        Raises:
            CatalogError: the server does not answer, or refuses.
        """
        repeated(lambda: self._run(sql, action, has_rows=False), CatalogError, _failed_inside)

    def count(self, sql: str, action: str) -> int:
        """Return the number that a query returns.

        Raises:
            CatalogError: the server does not answer, or refuses.
        """
        return int(self._run(sql, action, has_rows=True)[0][0])

    def _run(self, sql: str, action: str, *, has_rows: bool) -> Sequence[Sequence[Any]]:
        errors = importlib.import_module("impala.error")
        try:
            with contextlib.closing(self.connection.cursor()) as cursor:
                cursor.execute(sql)
                return list(cursor.fetchall()) if has_rows else []
        except errors.OperationalError as error:
            raise CatalogError(f"the HiveServer2 {self.url} refused {action}: {_first_line(str(error))}") from error
        except Exception as error:  # impyla lets errors of Thrift, SASL and sockets through
            raise CatalogError(f"the HiveServer2 {self.url} did not answer while {action}: {error}") from error

    def close(self) -> None:
        """End the connection."""
        self.connection.close()


def connect_server(options: Options) -> ServerClient:
    """Connect with the server of `hoodie.datasource.hive_sync.jdbcurl`.

    Raises:
        OptionError: the address is none, or the package of the client is not installed.
        CatalogError: the server does not answer.
    """
    url = options.text(JDBC_URL)
    arguments = connection_arguments(url)
    login = {name: options.text(f"hoodie.datasource.hive_sync.{key}") for name, key in (("user", "username"), ("password", "password"))}
    login = {name: arguments.pop(name, text) or _NOBODY for name, text in login.items()}
    try:
        connection = load_driver().connect(**arguments, **login, timeout=_TIMEOUT_S)
    except OptionError:
        raise
    except Exception as error:  # as above
        raise CatalogError(f"no HiveServer2 answers ({JDBC_URL}={url}): {error}") from error
    return ServerClient(url, connection)


def connection_arguments(url: str) -> dict[str, Any]:
    """Return the arguments of a connection for a JDBC URL of Hive.

    Raises:
        OptionError: it is none.
        UnsupportedError: it asks for what is not served.

    Example:
        >>> connection_arguments("jdbc:hive2://hive:10001/default;auth=noSasl;user=ann")
        {'host': 'hive', 'port': 10001, 'auth_mechanism': 'NOSASL', 'user': 'ann'}
    """
    head, *settings = re.split("[;?#]", url)
    variables = dict(text.partition("=")[::2] for text in settings if text)
    _check_served(url, variables)
    try:
        parts = urlsplit(f"//{head.removeprefix(_PREFIX)}")
        host, port = parts.hostname, parts.port or _PORT
    except ValueError as error:
        raise OptionError(f"{JDBC_URL}={url}: {error}") from error
    if not url.startswith(_PREFIX) or not host:
        raise OptionError(f"{JDBC_URL}={url}: it is not of the form jdbc:hive2://host:port")
    result: dict[str, Any] = {"host": host, "port": port}
    result["auth_mechanism"] = "NOSASL" if variables.get("auth", "").lower() == "nosasl" else "PLAIN"
    if variables.get("transportMode", "").lower() == "http":
        result |= {"use_http_transport": True, "http_path": variables.get("httpPath", "cliservice")}
    if variables.get("ssl", "").lower() == "true":
        result["use_ssl"] = True
    return result | {name: variables[name] for name in ("user", "password") if name in variables}


def _check_served(url: str, variables: Mapping[str, str]) -> None:
    unserved = [name for name in _UNSERVED if name in variables]
    if (login := variables.get("auth", "")).lower() in _UNSERVED_LOGINS:
        unserved.append(f"auth={login}")
    if unserved:
        raise UnsupportedError(f"{JDBC_URL}={url}: {unserved[0]} is not served; use hoodie.datasource.hive_sync.mode=hms")
    if _TRUST in variables:
        raise UnsupportedError(
            f"{JDBC_URL}={url}: {_TRUST} is not served, as Python reads no such file of Java; without it the connection is encrypted, and"
            " the server's certificate is not verified"
        )


def load_driver() -> Any:
    """Return the module of the client.

    Raises:
        OptionError: its package is not installed.
    """
    try:
        return importlib.import_module("impala.dbapi")
    except ImportError as error:
        raise OptionError(
            "a sync through a HiveServer2 needs the package impyla: pip install 'pyhudi[hive]', or set hoodie.datasource.hive_sync.mode=hms"
        ) from error


def _failed_inside(error: CatalogError) -> bool:
    """Tell whether the metastore behind the server failed, as its database lets one of two processes that change the same."""
    return any(text in str(error.__cause__) for text in ("MetaException", "Internal error processing"))


def _first_line(text: str) -> str:
    return text.partition("\n")[0].removeprefix("org.apache.hive.service.cli.HiveSQLException: ")

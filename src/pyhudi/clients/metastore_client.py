"""The connection with a Hive metastore: Thrift, with the bindings of the package pymetastore.

Its errors become `CatalogError`: a refusal with the metastore's own words, a lost connection with the address.
"""

from __future__ import annotations

import contextlib
import importlib
import queue
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from pyhudi.clients.library_logs import keep_off_terminal
from pyhudi.errors import CatalogError, OptionError
from pyhudi.repeated_calls import repeated

_URIS: Final = "hoodie.datasource.hive_sync.metastore.uris"
_PORT: Final = 9083
_TIMEOUT_MS: Final = 600_000  # adding a thousand partitions takes a slow metastore minutes
_CONNECT_MS: Final = 20_000
_OF_ENDS: Final = "; it ended the connection, as one does that stops, or that expects Kerberos or TLS, which are not served"
#: A metastore serves each connection in a thread of its own, most of which wait for its database.
CONNECTIONS: Final = 4

_Batch = TypeVar("_Batch")
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class MetastoreClient:
    """A connected client: `calls` are the methods of the metastore, `types` the values that it takes."""

    uri: str
    calls: Any
    types: Any
    transport: Any

    @contextlib.contextmanager
    def translate_errors(self, action: str) -> Iterator[None]:
        """Raise what goes wrong in an action as `CatalogError`."""
        transport = importlib.import_module("thrift.transport.TTransport")
        thrift = importlib.import_module("thrift.Thrift")
        try:
            yield
        except (transport.TTransportException, OSError, EOFError) as error:
            has_ended = getattr(error, "type", None) == transport.TTransportException.END_OF_FILE
            raise CatalogError(
                f"the Hive metastore {self.uri} did not answer while {action}: {error}{_OF_ENDS if has_ended else ''}"
            ) from error
        except thrift.TException as error:
            reason = getattr(error, "message", None) or str(error) or type(error).__name__
            raise CatalogError(f"the Hive metastore {self.uri} refused {action}: {reason}") from error

    def repeat(self, action: str, call: Callable[[], _Result]) -> _Result:
        """Run a call that does no harm when it is done twice, again while the metastore fails inside.

        Its database lets one of two processes fail that change the same table or partitions at a time: as a `MetaException`, or as an
        internal error, which says nothing more.

        Raises:
            CatalogError: it does not answer, refuses, or fails each time.
        """

        def attempt() -> _Result:
            with self.translate_errors(action):
                return call()

        return repeated(attempt, CatalogError, self._failed_inside)

    def _failed_inside(self, error: CatalogError) -> bool:
        internal = importlib.import_module("thrift.Thrift").TApplicationException
        cause = error.__cause__
        return isinstance(cause, self.types.MetaException) or (isinstance(cause, internal) and cause.type == internal.INTERNAL_ERROR)

    def close(self) -> None:
        """End the connection."""
        self.transport.close()


def connect(uris: Sequence[str], option: str = _URIS, timeout_ms: int = _TIMEOUT_MS) -> MetastoreClient:
    """Connect with the first metastore that answers.

    Args:
        uris: of the form `thrift://host:port`.
        option: which gives them, for errors.
        timeout_ms: how many milliseconds to wait for an answer.

    Raises:
        OptionError: an address is none, or the package of the client is not installed.
        CatalogError: none answers.
    """
    bindings, types = load_bindings()
    keep_off_terminal("thrift")
    transport_of = importlib.import_module("thrift.transport.TTransport")
    sockets = importlib.import_module("thrift.transport.TSocket")
    protocol = importlib.import_module("thrift.protocol.TBinaryProtocol")
    errors = []
    for uri in uris:
        socket = sockets.TSocket(*_address(uri, option))
        socket.setTimeout(min(_CONNECT_MS, timeout_ms))
        transport = transport_of.TBufferedTransport(socket, 1 << 16)
        try:
            transport.open()
        except (transport_of.TTransportException, OSError) as error:
            errors.append(f"{uri}: {error}")
            continue
        socket.setTimeout(timeout_ms)
        return MetastoreClient(uri, bindings.Client(protocol.TBinaryProtocolAccelerated(transport)), types, transport)
    raise CatalogError(f"no Hive metastore answers ({option}): {'; '.join(errors)}")


def map_batches(client: MetastoreClient, call: Callable[[MetastoreClient, _Batch], _Result], batches: Sequence[_Batch]) -> list[_Result]:
    """Run a call for each batch, on up to four connections at a time; the results are in the order of the batches.

    Raises:
        CatalogError: a call failed; the others have ended.
    """
    connections: queue.SimpleQueue[MetastoreClient] = queue.SimpleQueue()

    def run(batch: _Batch) -> _Result:
        connection = connections.get()
        try:
            return call(connection, batch)
        finally:
            connections.put(connection)

    with contextlib.ExitStack() as stack:
        connections.put(client)
        further = min(CONNECTIONS, len(batches)) - 1
        for _ in range(further):
            connections.put(stack.enter_context(contextlib.closing(connect([client.uri]))))
        if further < 1:
            return [run(batch) for batch in batches]
        with ThreadPoolExecutor(1 + further) as threads:
            return list(threads.map(run, batches))


def load_bindings(
    purpose: str = "a sync with a Hive metastore", alternative: str = "leave out hoodie.datasource.hive_sync.enable"
) -> tuple[Any, Any]:
    """Return the modules of the methods and of the values of a metastore.

    Args:
        purpose: what needs them, for the error.
        alternative: what to do without them, also for the error.

    Raises:
        OptionError: their package is not installed.
    """
    try:
        bindings = importlib.import_module("pymetastore.hive_metastore.ThriftHiveMetastore")
        types = importlib.import_module("pymetastore.hive_metastore.ttypes")
    except ImportError as error:
        raise OptionError(f"{purpose} needs the package pymetastore: pip install 'pyhudi[hive]', or {alternative}") from error
    return bindings, types


def check_addresses(uris: Sequence[str], option: str = _URIS) -> None:
    """See that addresses are of the form that a connection needs.

    Args:
        uris: the addresses.
        option: which gives them, for errors.

    Raises:
        OptionError: there is none, or one is not.
    """
    if not uris:
        raise OptionError(f"{option} names no metastore: give thrift://host:port, or leave it out")
    for uri in uris:
        _address(uri, option)


def _address(uri: str, option: str) -> tuple[str, int]:
    parts = urlsplit(uri if "://" in uri else f"thrift://{uri}")
    try:
        port = parts.port or _PORT
    except ValueError as error:
        raise OptionError(f"{option}={uri}: it has no port: {error}") from error
    if parts.scheme != "thrift" or not parts.hostname:
        raise OptionError(f"{option}={uri}: it is not of the form thrift://host:port")
    return parts.hostname, port

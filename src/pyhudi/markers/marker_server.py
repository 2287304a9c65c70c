"""The embedded server: tasks in other processes create their markers by requests to the driver.

Rules: `TimelineService`, `MarkerHandler` (its path `/v1/hoodie/marker/create`). The server lives as long as the tasks of one write, takes
requests with its token only, and listens on the address that executors know the driver by.
"""

from __future__ import annotations

import contextlib
import hmac
import http.client
import json
import logging
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from pyhudi.errors import AlreadyExistsError, HudiError, StorageError
from pyhudi.markers.marker_batches import MarkerBatches
from pyhudi.spec.files.marker import MarkerType
from pyhudi.storage.storage_protocol import Storage

_PATH: Final = "/v1/hoodie/marker/create"
_TOKEN: Final = "X-Pyhudi-Token"  # noqa: S105 - the name of a header
_MAX_BYTES: Final = 1 << 16
_TIMEOUT_S: Final = 300.0
_ATTEMPTS: Final = 3

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ServerMarkers:
    """The route of tasks that ask a server at an address."""

    host: str
    port: int
    token: str = field(repr=False)

    def create(self, storage: Storage, instant: str, data_path: str, kind: MarkerType) -> None:
        """Create a marker; see `MarkerRoute`. A connection that fails before the request is sent is made again."""
        body = json.dumps({"path": data_path, "type": kind.value})
        status, text = self._answer(body, f"marker of '{data_path}' at {instant} of table {storage.uri}")
        if status == HTTPStatus.CONFLICT:
            raise AlreadyExistsError(text)
        if status != HTTPStatus.OK:
            raise StorageError(f"the marker server {self.host}:{self.port} answered {status}: {text}")

    def _answer(self, body: str, what: str) -> tuple[int, str]:
        for attempt in range(1, _ATTEMPTS + 1):
            connection = http.client.HTTPConnection(self.host, self.port, timeout=_TIMEOUT_S)
            try:
                connection.connect()
            except OSError as error:
                if attempt == _ATTEMPTS:
                    raise StorageError(f"the marker server {self.host}:{self.port} does not answer for the {what}: {error}") from error
                continue
            with contextlib.closing(connection):
                try:
                    connection.request("POST", _PATH, body, {_TOKEN: self.token})
                    response = connection.getresponse()
                    return response.status, response.read().decode()
                except (OSError, http.client.HTTPException) as error:
                    raise StorageError(f"the marker server {self.host}:{self.port} did not answer for the {what}: {error}") from error
        raise AssertionError("the last attempt returns or raises")


@contextlib.contextmanager
def serving(batches: MarkerBatches, host: str, token: str) -> Iterator[ServerMarkers]:
    """Serve the markers of a write at an address of this machine, on a free port, and hand out the route to them.

    Raises:
        OSError: this machine does not have the address.
    """
    server = _Server(host, batches, token)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, name="pyhudi-marker-server", daemon=True)
    thread.start()
    try:
        yield ServerMarkers(host, server.server_address[1], token)
    finally:
        server.shutdown()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, host: str, batches: MarkerBatches, token: str) -> None:
        self.batches, self.token = batches, token
        super().__init__((host, 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    timeout = _TIMEOUT_S
    server: _Server

    def do_POST(self) -> None:
        """Create a marker."""
        if not hmac.compare_digest(self.headers.get(_TOKEN, "").encode(), self.server.token.encode()):
            self._send(HTTPStatus.FORBIDDEN, "the token is wrong")
        elif self.path != _PATH:
            self._send(HTTPStatus.NOT_FOUND, "only markers are created here")
        else:
            self._send(*self._created())

    def _created(self) -> tuple[HTTPStatus, str]:
        try:
            length = int(self.headers.get("Content-Length", "0"))
            if not 0 < length <= _MAX_BYTES:
                return HTTPStatus.BAD_REQUEST, f"a request of {length} bytes"
            stated = json.loads(self.rfile.read(length))
            path, kind = str(stated["path"]), MarkerType(stated["type"])
        except (ValueError, KeyError, TypeError) as error:
            return HTTPStatus.BAD_REQUEST, f"the request names no marker: {error}"
        try:
            self.server.batches.create(path, kind)
        except AlreadyExistsError as error:
            return HTTPStatus.CONFLICT, str(error)
        except (HudiError, OSError) as error:
            return HTTPStatus.INTERNAL_SERVER_ERROR, str(error)
        return HTTPStatus.OK, ""

    def _send(self, status: HTTPStatus, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 - the name is that of the library
        """Log a request for those who debug."""
        _log.debug("marker server: " + format, *arguments)

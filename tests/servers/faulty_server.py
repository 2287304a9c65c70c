"""A proxy in front of a server of HTTP that answers badly: with an error, by a broken connection, or after the request was done."""

from __future__ import annotations

import contextlib
import http.client
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

_HOP: Final = frozenset({"connection", "transfer-encoding", "expect", "server", "date", "content-length"})
_CODES: Final = {"429": "TooManyRequests", "500": "InternalError", "503": "SlowDown", "409": "ConditionalRequestConflict"}
#: Faults of requests that are done, and faults after which the connection is broken.
_WITH_ANSWER: Final = ("", "slow", "cut", "stall")
_BREAKS: Final = ("reset", "hang", "cut", "stall")


class FaultyServer(ThreadingHTTPServer):
    """Forwards requests to a port of this machine, unless `fault` says for a method and a path how they end: `""` well, otherwise with the
    status that it names, `reset` or, until `resumed` is set, `hang`; `-after` behind one of them means that the request is done before.
    Of an answer that is `cut` or `stalls` the first half is sent, then the connection breaks or nothing more comes; a `slow` one comes
    after `delay_s`.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, target: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.target = target
        self.resumed = threading.Event()
        self.delay_s = 0.0
        #: Headers of the answers with a status of an error.
        self.error_headers: dict[str, str] = {}
        self.fault: Callable[[str, str], str] = lambda _method, _path: ""

    def once_each(self, fault: str, methods: str = "GET HEAD PUT POST DELETE") -> None:
        """Let each request end badly when it comes for the first time."""
        injected: set[tuple[str, str]] = set()

        def first_time(method: str, path: str) -> str:
            if method not in methods.split() or (method, path) in injected:
                return ""
            injected.add((method, path))
            return fault

        self.fault = first_time


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: FaultyServer

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the name of the base class
        """Print nothing."""

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        fault, _, after = self.server.fault(self.command, self.path).partition("-")
        status, headers, data = self.forward(body) if after or fault in _WITH_ANSWER else (0, {}, b"")
        if fault in ("cut", "stall"):
            self.answer(status, headers, data[: len(data) // 2])
            self.wfile.flush()
        if fault == "slow":
            self.server.resumed.wait(self.server.delay_s)
        if fault in ("hang", "stall"):
            self.server.resumed.wait()
        if fault in _BREAKS:
            self.close_connection = True
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
        elif fault in _CODES:
            text = f"<Error><Code>{_CODES[fault]}</Code><Message>on purpose</Message></Error>".encode()
            self.answer(int(fault), {"Content-Length": str(len(text)), **self.server.error_headers}, text)
        else:
            self.answer(status, headers, data)

    do_HEAD = do_PUT = do_POST = do_DELETE = do_GET  # noqa: N815 - the names of the base class

    def forward(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.target)
        with contextlib.closing(connection):
            sent = {name: value for name, value in self.headers.items() if name.lower() not in _HOP}
            connection.request(self.command, self.path, body, sent)
            answer = connection.getresponse()
            data = answer.read()
        headers = {name: value for name, value in answer.getheaders() if name.lower() not in _HOP}
        length = answer.getheader("Content-Length") if self.command == "HEAD" else str(len(data))
        return answer.status, {**headers, "Content-Length": length or "0"}, data

    def answer(self, status: int, headers: dict[str, str], data: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


@contextlib.contextmanager
def faulty_server(target: int) -> Iterator[FaultyServer]:
    """Run a proxy in front of the server of a port."""
    with FaultyServer(target) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server
        finally:
            server.resumed.set()
            server.shutdown()

"""A proxy between a client and a server that can be cut: what is sent is lost then, without an error, as in a network."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator


class CutNetwork:
    """Forwards connections to a port of this machine until `is_cut` is set; with `answers_are_lost` in one direction only."""

    def __init__(self, target: int) -> None:
        self.is_cut = False
        self.answers_are_lost = False
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets = [self._listener]
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                return
            self._sockets += [client, server]
            threading.Thread(target=self._forward, args=(client, server, False), daemon=True).start()
            threading.Thread(target=self._forward, args=(server, client, True), daemon=True).start()

    def _forward(self, source: socket.socket, sink: socket.socket, is_answer: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if not self.is_cut and not (is_answer and self.answers_are_lost):
                    sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        for one in self._sockets:
            one.close()


@contextlib.contextmanager
def network_to(port: int) -> Iterator[CutNetwork]:
    network = CutNetwork(port)
    try:
        yield network
    finally:
        network.close()

"""Markers of one write as lines of the files `MARKERS0`, `MARKERS1`, ...: requests of an interval are written together.

Rules: `MarkerHandler`, `MarkerDirState`, `MarkerCreationDispatchingRunnable`; docs/format/concurrency.md#timeline-server-markers.
A file has the new lines after its old ones and is replaced as a whole; the requests are answered when it is on storage.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from pyhudi.errors import AlreadyExistsError, HudiError, StorageError
from pyhudi.markers.marker_settings import MarkerSettings
from pyhudi.spec.files.marker import TIMELINE_SERVER_BASED, TYPE_FILE, MarkerType, marker_folder, marker_line
from pyhudi.storage.storage_protocol import Storage


@dataclass(frozen=True, slots=True)
class _Request:
    line: str
    answer: Future[None]


class MarkerBatches:
    """The markers of one write. Threads create them; `close` ends the threads that write files."""

    def __init__(self, storage: Storage, instant: str, settings: MarkerSettings, pause: Callable[[float], None] = time.sleep) -> None:
        """Write nothing yet."""
        self._storage, self._folder, self._settings, self._pause = storage, marker_folder(instant), settings, pause
        self._changed = threading.Condition()
        self._lines: set[str] = set()
        self._waiting: list[_Request] = []
        self._contents = [""] * settings.threads
        self._free = deque(range(settings.threads))
        self._has_type = False
        self._is_closed = False
        self._pool = ThreadPoolExecutor(settings.threads + 1, "pyhudi-markers")
        self._pool.submit(self._dispatch)

    def create(self, data_path: str, kind: MarkerType) -> None:
        """Create a marker; when this returns, it is on storage.

        Raises:
            AlreadyExistsError: there is such a marker.
            StorageError: it could not be created, or the write has ended.
        """
        request = _Request(marker_line(data_path, kind), Future())
        with self._changed:
            if self._is_closed:
                raise StorageError(f"the write whose markers are in '{self._folder}' of table {self._storage.uri} has ended")
            if request.line in self._lines:
                raise AlreadyExistsError(f"marker '{request.line}' in '{self._folder}' of table {self._storage.uri} exists already")
            self._lines.add(request.line)
            self._waiting.append(request)
            self._changed.notify_all()
        request.answer.result()

    def close(self) -> None:
        """End the threads; a request that waits is refused."""
        with self._changed:
            self._is_closed = True
            waiting, self._waiting = self._waiting, []
            self._changed.notify_all()
        for request in waiting:
            request.answer.set_exception(StorageError("the write has ended"))
        self._pool.shutdown()

    def _dispatch(self) -> None:
        """Hand the requests of an interval to the next file that is not being written."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._is_closed)
            self._pause(self._settings.interval_s)
            with self._changed:
                self._changed.wait_for(lambda: self._free or self._is_closed)
                if self._is_closed:
                    return
                requests, self._waiting = self._waiting, []
                number = self._free.popleft()
            try:
                self._pool.submit(self._write, number, requests)
            except RuntimeError:  # the system starts no more threads
                self._write(number, requests)

    def _write(self, number: int, requests: list[_Request]) -> None:
        failure: BaseException | None = None
        content = self._contents[number] + "".join(f"{request.line}\n" for request in requests)
        try:
            self._write_type()
            self._storage.replace(f"{self._folder}/MARKERS{number}", content.encode())
            self._contents[number] = content
        except BaseException as error:  # noqa: BLE001 - it belongs to the threads that wait
            failure = error
        with self._changed:
            if failure is not None:
                self._lines.difference_update(request.line for request in requests)
            self._free.append(number)
            self._changed.notify_all()
        for request in requests:
            if failure is None:
                request.answer.set_result(None)
            else:
                request.answer.set_exception(_of_this_request(failure))

    def _write_type(self) -> None:
        """Create the type file before the first marker; a second thread waits until it is on storage."""
        with self._changed:
            if not self._has_type:
                self._storage.replace(f"{self._folder}/{TYPE_FILE}", TIMELINE_SERVER_BASED.encode())
                self._has_type = True


def _of_this_request(failure: BaseException) -> StorageError:
    """Return an error for one of the threads that wait: each raises its own."""
    reason = failure if isinstance(failure, HudiError | OSError) else f"{type(failure).__name__}: {failure}"
    error = StorageError(f"a marker could not be written: {reason}")
    error.__cause__ = failure
    return error


@dataclass(frozen=True, slots=True)
class BatchedMarkers:
    """The route of tasks in this process."""

    batches: MarkerBatches

    def create(self, storage: Storage, instant: str, data_path: str, kind: MarkerType) -> None:  # noqa: ARG002 - of the batches
        """Create a marker; see `MarkerRoute`."""
        self.batches.create(data_path, kind)

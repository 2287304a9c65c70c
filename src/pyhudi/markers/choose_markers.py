"""Which kind of markers a write has, and the route to it while its tasks run. Rule: `WriteMarkersFactory`."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from typing import Final

from pyhudi.locks.holder import new_holder_id
from pyhudi.markers.marker_batches import BatchedMarkers, MarkerBatches
from pyhudi.markers.marker_route import DIRECT_MARKERS, MarkerRoute
from pyhudi.markers.marker_server import serving
from pyhudi.markers.marker_settings import EMBEDDED, TYPE, MarkerSettings
from pyhudi.storage.remote.cloud_storage import CloudStorage
from pyhudi.storage.storage_protocol import Storage

_HDFS: Final = ("hdfs://", "viewfs://")

_log = logging.getLogger(__name__)


@contextlib.contextmanager
def markers_of(storage: Storage, instant: str, settings: MarkerSettings, driver_host: str | None) -> Iterator[MarkerRoute]:
    """Hand out how tasks create the markers of a write.

    Args:
        storage: the table's, without lock provider.
        instant: requested time of the write.
        settings: what the options say.
        driver_host: by which address tasks in other processes reach this one; None where they run in this one.
    """
    if not _is_batched(storage, settings, driver_host):
        yield DIRECT_MARKERS
        return
    try:
        started = MarkerBatches(storage, instant, settings)
    except RuntimeError as error:
        _log.warning("markers of %s are files of their own: %s", instant, error)  # the system starts no more threads
        yield DIRECT_MARKERS
        return
    with contextlib.closing(started) as batches, contextlib.ExitStack() as stack:
        if driver_host is None:
            yield BatchedMarkers(batches)
            return
        try:
            route: MarkerRoute = stack.enter_context(serving(batches, driver_host, new_holder_id()))
        except OSError as error:
            _log.warning("markers of %s are files of their own: no server can listen at %s: %s", instant, driver_host, error)
            route = DIRECT_MARKERS
        yield route


def _is_batched(storage: Storage, settings: MarkerSettings, driver_host: str | None) -> bool:
    """Tell whether markers are lines of files: where the options say so, and on object stores for tasks of Spark, but not on HDFS, and not
    for tasks in other processes without a server.
    """
    if not settings.is_batched:
        return not settings.kind and settings.has_server and driver_host is not None and isinstance(storage, CloudStorage)
    problem = ""
    if storage.uri.startswith(_HDFS):
        problem = "HDFS does not replace files"
    elif driver_host is not None and not settings.has_server:
        problem = f"{EMBEDDED}=false"
    if problem:
        _log.warning("%s=TIMELINE_SERVER_BASED falls back to DIRECT for table %s: %s", TYPE, storage.uri, problem)
    return not problem

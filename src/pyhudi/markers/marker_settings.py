"""What the options of a write say about its markers. Rules: `HoodieWriteConfig`, `WriteMarkersFactory`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pyhudi.spec.files.marker import TIMELINE_SERVER_BASED
from pyhudi.spec.options import Options

TYPE: Final = "hoodie.write.markers.type"
INTERVAL: Final = "hoodie.markers.timeline_server_based.batch.interval_ms"
THREADS: Final = "hoodie.markers.timeline_server_based.batch.num_threads"
EMBEDDED: Final = "hoodie.embed.timeline.server"


@dataclass(frozen=True, slots=True)
class MarkerSettings:
    """The kind of markers, `DIRECT`, `TIMELINE_SERVER_BASED` or `""` for the one that costs least, and how requests are batched.

    Attributes:
        kind: as the options name it.
        interval_s: for how many seconds requests are collected before they are written.
        threads: how many files are written at a time, which is the number of files.
        has_server: whether the driver may serve markers.
    """

    kind: str = ""
    interval_s: float = 0.05
    threads: int = 20
    has_server: bool = True

    @property
    def is_batched(self) -> bool:
        """Whether the options name the timeline-server based kind."""
        return self.kind == TIMELINE_SERVER_BASED


def marker_settings(options: Options) -> MarkerSettings:
    """Return what the options say."""
    kind = options.text(TYPE).strip().upper()
    return MarkerSettings(kind, options.integer(INTERVAL) / 1000, options.integer(THREADS), options.flag(EMBEDDED))

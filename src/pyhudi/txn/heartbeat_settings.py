"""How often a writer says that it is alive, and after how long a silence it counts as dead. Rules: `HoodieHeartbeatClient`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pyhudi.errors import OptionError
from pyhudi.spec.options import Options

INTERVAL: Final = "hoodie.client.heartbeat.interval_in_ms"
_MISSES: Final = "hoodie.client.heartbeat.tolerable.misses"
#: Apache Hudi takes no shorter interval.
_LEAST_INTERVAL_MS: Final = 1000


@dataclass(frozen=True, slots=True)
class HeartbeatSettings:
    """A heartbeat is written every `interval_ms` milliseconds; a writer that misses `tolerable_misses` of them is dead."""

    interval_ms: int = 60_000
    tolerable_misses: int = 2

    @property
    def alive_ms(self) -> int:
        """How long a writer counts as alive after a heartbeat, in milliseconds.

        Example:
            >>> HeartbeatSettings().alive_ms
            120000
        """
        return self.interval_ms * self.tolerable_misses


DEFAULTS: Final = HeartbeatSettings()


def heartbeat_settings(options: Options) -> HeartbeatSettings:
    """Return what the options decide.

    Raises:
        OptionError: the interval is below a second.
    """
    interval = options.integer(INTERVAL)
    if interval < _LEAST_INTERVAL_MS:
        raise OptionError(f"{INTERVAL}={interval} must be {_LEAST_INTERVAL_MS} or more milliseconds")
    return HeartbeatSettings(interval, options.integer(_MISSES))

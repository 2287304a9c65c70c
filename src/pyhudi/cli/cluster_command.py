"""`cluster`: buckets of hash rings are split and merged, in a process of its own.

Rules: `HoodieClusteringJob` (modes schedule, execute, scheduleAndExecute).
"""

from __future__ import annotations

from typing import Final

from pyhudi.cli.service_command import service_command

cluster: Final = service_command(
    "cluster",
    "Split large buckets of the table at PATH, and merge small ones; it is laid out by consistent hashing. Readers may go on meanwhile.",
    lambda services, _: services.cluster,
    noun="clustering",
    nothing="nothing to resize",
)

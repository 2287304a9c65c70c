"""Which command stands for which utility class of Hudi: `pyhudi HoodieCleaner --base-path ...` runs `pyhudi clean`."""

from __future__ import annotations

from typing import Final

_UTILITIES: Final = "org.apache.hudi.utilities."

#: The words of the command by the full name of the class.
COMMANDS: Final = {
    f"{_UTILITIES}HoodieCleaner": ("clean",),
    f"{_UTILITIES}HoodieCompactor": ("compact",),
    f"{_UTILITIES}HoodieClusteringJob": ("cluster",),
    f"{_UTILITIES}HoodieTTLJob": ("ttl",),
    f"{_UTILITIES}HoodieIndexer": ("index",),
    f"{_UTILITIES}HoodieDropPartitionsTool": ("drop-partitions",),
    f"{_UTILITIES}HoodieMetadataTableValidator": ("validate",),
    f"{_UTILITIES}HoodieDataTableValidator": ("validate",),
}


def command_of(name: str) -> str | None:
    """Return the command of a class, by its full or its short name; None when there is none."""
    words = COMMANDS.get(name) or COMMANDS.get(f"{_UTILITIES}{name}")
    return None if words is None else words[0]

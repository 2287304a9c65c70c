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
    f"{_UTILITIES}HoodieRepairTool": ("repair", "dangling-files"),
    f"{_UTILITIES}HoodieMetadataTableValidator": ("validate",),
    f"{_UTILITIES}HoodieDataTableValidator": ("validate",),
    f"{_UTILITIES}streamer.HoodieStreamer": ("bootstrap",),
    f"{_UTILITIES}deltastreamer.HoodieDeltaStreamer": ("bootstrap",),
    "org.apache.hudi.hive.HiveSyncTool": ("sync", "hive"),
    "org.apache.hudi.aws.sync.AwsGlueCatalogSyncTool": ("sync", "glue"),
}
#: Classes that only run what is planned unless a mode is given, where the commands plan, too.
_RUN_PLANS: Final = ("HoodieCompactor", "HoodieClusteringJob")
_BY_SHORT_NAME: Final = {name.rpartition(".")[2]: words for name, words in COMMANDS.items()}


def command_of(name: str) -> tuple[str, ...]:
    """Return the words of the command of a class, by its full or its short name; the name itself when there is none.

    Example:
        >>> command_of("org.apache.hudi.hive.HiveSyncTool"), command_of("clean")
        (('sync', 'hive'), ('clean',))
    """
    return COMMANDS.get(name) or _BY_SHORT_NAME.get(name) or (name,)


def runs_plans_by_default(name: str) -> bool:
    """Tell whether a class, by its full or its short name, plans nothing unless a mode asks for it.

    Example:
        >>> runs_plans_by_default("org.apache.hudi.utilities.HoodieCompactor"), runs_plans_by_default("compact")
        (True, False)
    """
    return name.rpartition(".")[2] in _RUN_PLANS

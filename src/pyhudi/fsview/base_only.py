"""The files of a partition that holds base files alone, and its newest slices, found in all of its names at once.

So are nearly all partitions of large tables, and a plan of 50,000 files looks at one of them: one by one they took four times as long.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import itemgetter

from pyhudi.fsview.file_groups import PartitionFiles, ids_of
from pyhudi.fsview.slice_list import SliceList
from pyhudi.spec.files.file_group import FileGroupId
from pyhudi.spec.files.file_names import base_file_names
from pyhudi.timeline.timeline import Timeline


def plain_files(sizes: Mapping[str, int], timeline: Timeline) -> PartitionFiles | None:
    """Return what `file_groups.committed_files` makes of these files; None when not all of them are base files.

    Args:
        sizes: their sizes in bytes by name.
        timeline: what it shows counts.
    """
    named = base_file_names(sizes)
    if named is None:
        return None
    visible_instants = _visible_instants(named, timeline)
    result = PartitionFiles()
    for name, file_id, instant in sorted(named):
        if instant in visible_instants:
            result.base[file_id].append((name, instant, sizes[name], 0))
    return result


def plain_slices(partition_path: str, sizes: Mapping[str, int], timeline: Timeline, replaced: Iterable[FileGroupId]) -> SliceList | None:
    """Return what `build.latest_slices` makes of these files; None when it takes more than their names to tell.

    Args:
        partition_path: the partition.
        sizes: the sizes of its files in bytes by name.
        timeline: what it shows counts.
        replaced: file groups that are left out, of any partition.
    """
    removed = ids_of(replaced, partition_path)
    named = base_file_names(sizes)
    if named is None:
        return None
    visible_instants = _visible_instants(named, timeline)
    visible = [one for one in named if one[2] in visible_instants and one[1] not in removed]
    visible.sort(key=itemgetter(1, 2))
    newest = {file_id: (name, instant, sizes[name], 0) for name, file_id, instant in visible}
    if len(newest) < len(visible) and len({one[1:] for one in visible}) < len(visible):
        return None  # several attempts at one file: its commit tells them apart
    return SliceList([partition_path] * len(newest), list(newest), list(newest.values()))


def _visible_instants(named: Iterable[tuple[str, str, str]], timeline: Timeline) -> set[str]:
    return {instant for instant in {instant for _, _, instant in named} if timeline.visibility.is_visible(instant)}

"""What options say about archival, in one value. Rules: `HoodieArchivalConfig`, `HoodieMetadataWriteUtils`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from pyhudi.errors import OptionError
from pyhudi.spec.options import Options
from pyhudi.timeline_archive.archive_writer import MergeLimits

_FEWEST, _MOST = "hoodie.keep.min.commits", "hoodie.keep.max.commits"
_BY_COMMITS = frozenset({"NUM_COMMITS", "NUM_AND_TIME"})


@dataclass(frozen=True, slots=True)
class ArchivalSettings:
    """When to archive, and what stays.

    Attributes:
        automatic: whether writes archive.
        in_background: whether they do so in a thread.
        fewest: completed commits that stay active.
        most: completed commits from which on more are archived.
        beyond_savepoints: whether commits after the first savepoint are archived, the savepointed ones left out.
        behind_cleaning: whether commits stay whose files the last clean kept.
        compaction_deltas: delta commits that the trigger of compaction counts, 0 when it does not go by their number.
        merge: when files of the archive are merged.
    """

    automatic: bool = True
    in_background: bool = False
    fewest: int = 20
    most: int = 30
    beyond_savepoints: bool = False
    behind_cleaning: bool = False
    compaction_deltas: int = 5
    merge: MergeLimits = field(default_factory=MergeLimits)

    def retaining(self, commits: int) -> ArchivalSettings:
        """Return what holds when so many commits must stay active; the span to the number from which on more are archived stays."""
        more = commits - self.fewest
        return self if more <= 0 else replace(self, fewest=commits, most=self.most + more)

    def of_metadata_table(self, max_delta_commits: int) -> ArchivalSettings:
        """Return what holds for the metadata table: one commit more stays, and it has a compaction of its own."""
        return replace(self, fewest=self.fewest + 1, most=self.most + 1, behind_cleaning=False, compaction_deltas=max_delta_commits)


def archival_settings(options: Options) -> ArchivalSettings:
    """Return what the options decide.

    Raises:
        OptionError: no more commits may stay than must.
    """
    fewest, most = options.integer(_FEWEST), options.integer(_MOST)
    if most <= fewest:
        raise OptionError(f"{_MOST}={most} must be more than {_FEWEST}={fewest}: set both")
    counts = options.text("hoodie.compact.inline.trigger.strategy").upper() in _BY_COMMITS
    return ArchivalSettings(
        automatic=options.flag("hoodie.archive.automatic"),
        in_background=options.flag("hoodie.archive.async"),
        fewest=fewest,
        most=most,
        beyond_savepoints=options.flag("hoodie.archive.beyond.savepoint"),
        behind_cleaning=options.flag("hoodie.archive.block.on.latest.clean.ectr"),
        compaction_deltas=options.integer("hoodie.compact.inline.max.delta.commits") if counts else 0,
        merge=MergeLimits(
            options.integer("hoodie.timeline.compaction.batch.size"), options.integer("hoodie.timeline.compaction.target.file.max.bytes")
        ),
    )

"""What a run of partition lifetimes dropped, or would drop."""

from __future__ import annotations

from dataclasses import dataclass

from pyhudi.spec.notebook_html import ShownResult


@dataclass(frozen=True, slots=True)
class ExpiredPartition:
    """A partition that has expired.

    Attributes:
        path: its path.
        since: the instant time that its age counts from.
        file_groups: how many file groups it has.
        bytes: the size of their newest slices, which cleaning deletes later.
    """

    path: str
    since: str
    file_groups: int
    bytes: int


@dataclass(frozen=True, slots=True, repr=False)
class TtlResult(ShownResult):
    """A run of partition lifetimes.

    Attributes:
        state: `planned` (a dry run), `completed`, or `nothing to do`.
        instant: the requested time of the replacecommit; None when there is none.
        partitions: those that expired, the oldest first.
        held_back: partitions that expired and stay, since a compaction of theirs is pending.
    """

    state: str
    instant: str | None
    partitions: tuple[ExpiredPartition, ...] = ()
    held_back: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Say in a few lines which partitions are dropped."""
        held_back = "".join(f"\n  {path} stays: a compaction of it is pending" for path in self.held_back)
        if not self.partitions:
            return f"no partition is dropped{held_back}"
        verb = "would be" if self.state == "planned" else "are"
        lines = "".join(f"\n  {one.path} ({one.file_groups} file groups, {one.bytes} bytes, of {one.since})" for one in self.partitions)
        return f"{len(self.partitions)} expired partitions {verb} dropped{lines}{held_back}"

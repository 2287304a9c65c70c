"""What a rescaling of buckets did, or would do."""

from __future__ import annotations

from dataclasses import dataclass

from pyhudi.spec.notebook_html import ShownResult


@dataclass(frozen=True, slots=True)
class RescaledPartition:
    """A partition whose number of buckets changes.

    Attributes:
        path: its path.
        before: its number of buckets so far.
        after: its number of buckets from now on.
    """

    path: str
    before: int
    after: int


@dataclass(frozen=True, slots=True, repr=False)
class RescalingResult(ShownResult):
    """A rescaling of the buckets of a table.

    Attributes:
        state: `planned` (a dry run), or `completed`.
        instant: the requested time of the replacecommit; None for a dry run.
        expressions: the expressions of the table, with the numbers of buckets of the partitions that they match.
        default: the number of buckets of partitions that no expression matches.
        partitions: those whose number of buckets changes.
        rows: how many rows were rewritten.
        files: how many base files were written.
    """

    state: str
    instant: str | None
    expressions: str
    default: int
    partitions: tuple[RescaledPartition, ...]
    rows: int = 0
    files: int = 0

    def __str__(self) -> str:
        """Say in a few lines which partitions change."""
        verb = "would be" if self.state == "planned" else "are"
        lines = "".join(f"\n  {one.path or '(no partition)'}: {one.before} -> {one.after} buckets" for one in self.partitions)
        written = "" if self.state == "planned" else f"; {self.rows} rows in {self.files} files"
        return f"{len(self.partitions)} partitions {verb} rescaled{written}{lines}"

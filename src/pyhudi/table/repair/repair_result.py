"""What repairs did, or would do."""

from __future__ import annotations

from dataclasses import dataclass

from pyhudi.spec.notebook_html import ShownResult


@dataclass(frozen=True, slots=True, repr=False)
class PartitionRepair(ShownResult):
    """The metafile of one partition.

    Attributes:
        path: the partition path.
        has_text: whether it had a metafile of the text format (`.hoodie_partition_metadata`).
        has_base: whether it had one of the format of base files (`.hoodie_partition_metadata.parquet`).
        action: `none`, `add` or `migrate` (a dry run), `added` or `migrated`.
    """

    path: str
    has_text: bool
    has_base: bool
    action: str

    def __str__(self) -> str:
        """Say in a line what is done."""
        words = {"none": "nothing to do", "add": "would be added", "migrate": "would be migrated"}
        return f"partition '{self.path}': {words.get(self.action, self.action)}"


@dataclass(frozen=True, slots=True, repr=False)
class PropertyChange(ShownResult):
    """A table property that was, or would be, replaced; a value of None means that the property is not there.

    Attributes:
        name: of the property.
        old: its value before.
        new: its value after.
    """

    name: str
    old: str | None
    new: str | None

    def __str__(self) -> str:
        """Say in a line what the property was and is."""
        if self.old == self.new:
            return f"{self.name}={self.new}"
        return f"{self.name}: {'(none)' if self.old is None else self.old} -> {'(none)' if self.new is None else self.new}"


@dataclass(frozen=True, slots=True, repr=False)
class CleanFilesRepair(ShownResult):
    """Files of cleans without content.

    Attributes:
        state: `planned` (a dry run), `completed`, or `nothing to do`.
        files: their paths.
    """

    state: str
    files: tuple[str, ...]

    def __str__(self) -> str:
        """Say in a few lines which files are removed."""
        if not self.files:
            return "no file of a clean is empty"
        verb = "would be" if self.state == "planned" else "are"
        return f"{len(self.files)} empty files of cleans {verb} removed" + "".join(f"\n  {path}" for path in self.files)


@dataclass(frozen=True, slots=True, repr=False)
class DanglingFilesRepair(ShownResult):
    """Data files that no commit names.

    Attributes:
        state: `planned` (a dry run), `completed`, `restored`, or `nothing to do`.
        files: their paths in the table.
        size: of all of them, in bytes.
        backup: the folder with their copies; None where there are none.
    """

    state: str
    files: tuple[str, ...]
    size: int
    backup: str | None

    def __str__(self) -> str:
        """Say in a few lines which files are removed or restored."""
        if not self.files:
            return "no file is dangling"
        verb = {"planned": "would be copied", "completed": "removed, with copies", "restored": "restored from copies"}[self.state]
        return f"{len(self.files)} files of {self.size} bytes {verb} in {self.backup}" + "".join(f"\n  {path}" for path in self.files)


@dataclass(frozen=True, slots=True, repr=False)
class PlanRepair(ShownResult):
    """A file whose slice was, or would be, taken out of the plan of a clustering.

    Attributes:
        instant: the requested time of the clustering.
        path: the file, as it was asked for, or in the table.
        action: `would be removed` (a dry run), `removed` or `not in the plan`.
        reason: `asked for` or `not readable`.
    """

    instant: str
    path: str
    action: str
    reason: str

    def __str__(self) -> str:
        """Say in a line what is done."""
        return f"'{self.path}' of clustering {self.instant}: {self.action} ({self.reason})"


@dataclass(frozen=True, slots=True, repr=False)
class StaleInstant(ShownResult):
    """A pending action that is older than the age that was asked for.

    Attributes:
        instant: its requested time.
        action: its action, as `commit` or `compaction`.
        rolled_back: True when it was rolled back, False when that failed, None in a dry run.
        problem: why it could not be rolled back.
    """

    instant: str
    action: str
    rolled_back: bool | None
    problem: str | None = None

    def __str__(self) -> str:
        """Say in a line what became of it."""
        outcome = {None: "would be rolled back", True: "rolled back", False: f"not rolled back: {self.problem}"}
        return f"{self.action} {self.instant}: {outcome[self.rolled_back]}"


@dataclass(frozen=True, slots=True, repr=False)
class DeduplicationResult(ShownResult):
    """A deduplication of a partition.

    Attributes:
        state: `planned` (a dry run), `completed`, or `nothing to do`.
        instant: the requested time of the commit; None when there is none.
        partition: the partition path.
        keys: how many record keys have several rows.
        surplus_rows: how many rows go.
        files: the base files that hold such keys.
        output: the folder with the repaired copies, None when none was asked for.
    """

    state: str
    instant: str | None
    partition: str
    keys: int
    surplus_rows: int
    files: tuple[str, ...]
    output: str | None = None

    def __str__(self) -> str:
        """Say in a line how many rows are removed."""
        copies = "" if self.output is None else f"; files without duplicates are in {self.output}"
        if not self.keys:
            return f"partition '{self.partition}' has no duplicates{copies}"
        verb = "would be" if self.state == "planned" else "are"
        return (
            f"{self.surplus_rows} rows of {self.keys} record keys in {len(self.files)} base files of partition '{self.partition}'"
            f" {verb} removed{copies}"
        )

"""What a restore did, or would do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pyhudi.spec.actions.rollback import InstantInfo, RollbackPlan
from pyhudi.spec.notebook_html import ShownResult
from pyhudi.storage.storage_protocol import Storage


@dataclass(frozen=True, slots=True, repr=False)
class RestoreResult(ShownResult):
    """A restore that is planned or done.

    Attributes:
        state: `planned` (a dry run), `completed`, or `nothing to do`.
        target: the requested time of the commit that the table is brought back to.
        instant: the requested time of the restore; None while there is none.
        rolled_back: the instants that it rolls back, in this order.
        files: paths of the data files that it deletes, relative to the table.
        bytes: their size.
        logs: how many log files of version 6 stay and get a block that rolls back what is in them.
        seconds: how long it took.
        metadata_table: what becomes of the metadata table: `rolled back`, `rebuilt` or `none`; empty for a dry run.
    """

    state: str
    target: str
    instant: str | None
    rolled_back: tuple[InstantInfo, ...]
    files: tuple[str, ...]
    bytes: int
    logs: int = 0
    seconds: float = 0.0
    metadata_table: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return its attributes by name, for JSON."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        return plain | {"rolled_back": [{"instant": one.time, "action": one.action} for one in self.rolled_back], "files": list(self.files)}

    def __str__(self) -> str:
        """Say in a few lines what is rolled back and how much is deleted."""
        if not self.rolled_back and self.state != "completed":
            return f"nothing to do: {self.target} is the latest commit"
        verb = "would be" if self.state == "planned" else "is"
        instants = "".join(f"\n  {one.action} {one.time}" for one in self.rolled_back)
        deleted = f"{len(self.files)} files of {self.bytes} bytes deleted"
        return f"the table {verb} restored to {self.target}: {deleted}, these instants rolled back:{instants}"


def planned_result(storage: Storage, state: str, target: str, plans: Iterable[RollbackPlan]) -> RestoreResult:
    """Return what rollback plans of a restore delete; each partition is listed once for the sizes."""
    plans = list(plans)
    names: dict[str, set[str]] = defaultdict(set)
    logs = 0
    for plan in plans:
        for request in plan.requests or ():
            names[request.partition_path].update(file.rpartition("/")[2] for file in request.files_to_delete)
            logs += len(request.log_blocks_to_delete or ())
    remaining = [status for path in sorted(names) for status in storage.list(path) if status.name in names[path]]
    return RestoreResult(
        state,
        target,
        None,
        tuple(plan.instant for plan in plans if plan.instant is not None),
        tuple(status.path for status in remaining),
        sum(status.size for status in remaining),
        logs,
    )

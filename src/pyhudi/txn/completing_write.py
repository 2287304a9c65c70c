"""What of a write is compared with others before it completes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.tasks.write_task import TaskResult


@dataclass(frozen=True, slots=True)
class KeyScope:
    """Where a key may be once: in the table when `is_global`, else in each partition. `context` says how records are read."""

    context: RecordContext
    is_global: bool


@dataclass(frozen=True, slots=True)
class CompletingWrite:
    """The results of a write, and the file ids by partition path that it replaces.

    `by_bucket` tells that a bucket index decides where a key is; `keys` where new keys may be once, None for a write that takes keys as
    they come. With `in_any_order`, others may have written to the same file groups meanwhile: rows of log files, which merge in the order
    in which their commits complete.
    """

    results: Sequence[TaskResult]
    replaced: Mapping[str, tuple[str, ...]] | None = None
    by_bucket: bool = False
    keys: KeyScope | None = None
    in_any_order: bool = False

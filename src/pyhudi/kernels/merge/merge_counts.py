"""What merging a file slice came to, counted while it goes on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class MergeCounts:
    """Rows of the base file that were replaced or deleted, rows that are new, and versions read from the logs.

    A merge in parts adds up over its parts; each reads all blocks, which are counted once, with the bytes of those that hold rows.
    """

    updates: int = 0
    inserts: int = 0
    deletes: int = 0
    log_records: int = 0
    log_blocks: int = 0
    log_bytes: int = 0

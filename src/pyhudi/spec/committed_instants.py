"""Which writes a commit found completed: a second statement of what the timeline's file names say, by which the loss of one is noticed.

Hudi has none: a write whose completed file is missing looks like one that never completed, and the next writer rolls it back. So a commit
of this package notes the file names of the completed writes before it in its extra metadata, after their CRC-32.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Final

from pyhudi.spec.extra_metadata import COMMITTED_KEY

#: How many writes are noted, the newest ones: twice as many as Hudi leaves on an active timeline by default, three kilobytes.
MOST_NOTED_INSTANTS: Final = 60


def committed_note(names: Sequence[str]) -> dict[str, str]:
    """Return the entry of the extra metadata for file names of completed instants, sorted by requested time; empty for none.

    Example:
        >>> committed_note(["20260101000000000.commit"])
        {'pyhudi.timeline.completed': '069e7021 20260101000000000.commit'}
    """
    if not names:
        return {}
    text = ",".join(names[-MOST_NOTED_INSTANTS:])
    return {COMMITTED_KEY: f"{zlib.crc32(text.encode()):08x} {text}"}


def noted_instants(note: str) -> tuple[str, ...] | None:
    """Return the file names of a note; None when its CRC does not hold.

    Example:
        >>> noted_instants("00000000 20260101000000000.commit") is None
        True
    """
    checksum, _, text = note.partition(" ")
    if checksum != f"{zlib.crc32(text.encode()):08x}":
        return None
    return tuple(text.split(","))

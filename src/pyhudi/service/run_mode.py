"""What a write does about a table service once it is committed."""

from __future__ import annotations

import enum


class RunMode(enum.Enum):
    """What is due after a commit is planned, or run, or left alone."""

    OFF = "nothing"
    SCHEDULE = "plan what is due"
    INLINE = "plan what is due and run it"
    BACKGROUND = "plan what is due and run it in a thread"

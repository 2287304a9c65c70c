"""Who holds a lock: an id that no other holder has."""

from __future__ import annotations

import uuid


def new_holder_id() -> str:
    """Return a random id in the form of Java's `UUID`.

    Example:
        >>> len(new_holder_id())
        36
    """
    return str(uuid.uuid4())

"""How many commits archival leaves active for cleaning. Rules: `ArchivalUtils.getMinAndMaxInstantsToKeep`."""

from __future__ import annotations

from datetime import datetime

from pyhudi.service.archival.archival_settings import ArchivalSettings
from pyhudi.service.cleaning.clean_settings import CleanPolicy, CleanSettings
from pyhudi.service.cleaning.retention import earliest_to_retain
from pyhudi.timeline.timeline import Timeline

#: The earliest commit that cleaning retains stays, and the one before it, whose files a reader of that state may need.
_BEFORE_THOSE_AFTER = 2


def with_retention(settings: ArchivalSettings, cleaning: CleanSettings, timeline: Timeline, now: datetime, zone: str) -> ArchivalSettings:
    """Return the settings of archival raised to what cleaning retains.

    Args:
        settings: what options say about archival.
        cleaning: what they say about cleaning.
        timeline: the table's.
        now: the present.
        zone: of the timeline's times (`UTC` or `LOCAL`).
    """
    # One more than retained must be active, or a clean would find none that it need not retain.
    needed = cleaning.commits + 1 if cleaning.policy is CleanPolicy.KEEP_LATEST_COMMITS else 0
    earliest = earliest_to_retain(timeline, cleaning, now, zone)
    if earliest is not None:
        needed = max(needed, sum(one.requested > earliest.requested for one in timeline.data_instants()) + _BEFORE_THOSE_AFTER)
    return settings.retaining(needed)

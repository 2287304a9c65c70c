"""Properties of tables with either timeline layout."""

from __future__ import annotations

COMMON = {"hoodie.table.name": "trips", "hoodie.table.type": "COPY_ON_WRITE", "hoodie.table.timeline.timezone": "UTC"}
LAYOUT_1 = {**COMMON, "hoodie.table.version": "6", "hoodie.timeline.layout.version": "1"}
LAYOUT_2 = {
    **COMMON,
    "hoodie.table.version": "9",
    "hoodie.table.initial.version": "9",
    "hoodie.timeline.layout.version": "2",
    "hoodie.timeline.path": "timeline",
    "hoodie.timeline.history.path": "history",
}

"""Archival: old instants leave the active timeline, so that what a commit costs does not grow with the table's age."""

from pyhudi.service.archival.archival_result import ArchivalResult
from pyhudi.service.archival.archival_settings import ArchivalSettings, archival_settings
from pyhudi.service.archival.run_archival import archive, is_due

__all__ = ["ArchivalResult", "ArchivalSettings", "archival_settings", "archive", "is_due"]

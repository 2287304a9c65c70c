"""Archival: old instants leave the active timeline, so that what a commit costs does not grow with the table's age."""

from pyhudi.service.archival.result import ArchivalResult
from pyhudi.service.archival.run import archive, is_due
from pyhudi.service.archival.settings import ArchivalSettings, archival_settings

__all__ = ["ArchivalResult", "ArchivalSettings", "archival_settings", "archive", "is_due"]

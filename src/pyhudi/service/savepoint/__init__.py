"""Savepoints: commits whose files no clean deletes, so that the table can be restored to them.

May import what the other services may; `restore` goes by the savepoints that are made here.
"""

from __future__ import annotations

from pyhudi.service.savepoint.create_savepoint import create_savepoint, delete_savepoint
from pyhudi.service.savepoint.savepoint_listing import Savepoint, savepoint_instants, savepoints

__all__ = ["Savepoint", "create_savepoint", "delete_savepoint", "savepoint_instants", "savepoints"]

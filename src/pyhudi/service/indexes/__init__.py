"""Making and dropping indexes of a table, and saying which there are."""

from __future__ import annotations

from pyhudi.service.indexes.change import IndexChange, create_index, drop_index, rebuild_indexes
from pyhudi.service.indexes.define import IndexRequest
from pyhudi.service.indexes.listing import ListedIndex, list_indexes

__all__ = ["IndexChange", "IndexRequest", "ListedIndex", "create_index", "drop_index", "list_indexes", "rebuild_indexes"]

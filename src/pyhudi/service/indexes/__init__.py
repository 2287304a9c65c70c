"""Making and dropping indexes of a table, and saying which there are."""

from __future__ import annotations

from pyhudi.service.indexes.change import IndexChange, Indexing
from pyhudi.service.indexes.check import check_types
from pyhudi.service.indexes.define import IndexRequest, partition_of
from pyhudi.service.indexes.listing import ListedIndex, list_indexes
from pyhudi.service.indexes.plan import is_pending_build

__all__ = ["IndexChange", "IndexRequest", "Indexing", "ListedIndex", "check_types", "is_pending_build", "list_indexes", "partition_of"]

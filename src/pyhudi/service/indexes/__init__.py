"""Making and dropping indexes of a table, and saying which there are."""

from __future__ import annotations

from pyhudi.service.indexes.change_indexes import IndexChange, Indexing
from pyhudi.service.indexes.check_index import check_types
from pyhudi.service.indexes.define_index import IndexRequest, partition_of
from pyhudi.service.indexes.index_build_plan import is_pending_build
from pyhudi.service.indexes.index_listing import ListedIndex, list_indexes

__all__ = ["IndexChange", "IndexRequest", "Indexing", "ListedIndex", "check_types", "is_pending_build", "list_indexes", "partition_of"]

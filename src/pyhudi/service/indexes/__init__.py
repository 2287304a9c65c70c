"""Making and dropping indexes of a table, and saying which there are."""

from __future__ import annotations

from pyhudi.service.indexes.change import IndexChange, Indexing
from pyhudi.service.indexes.define import IndexRequest
from pyhudi.service.indexes.listing import ListedIndex, list_indexes

__all__ = ["IndexChange", "IndexRequest", "Indexing", "ListedIndex", "list_indexes"]

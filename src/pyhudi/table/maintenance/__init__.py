"""Parts of `table.services`: savepoints and restore, indexes, compaction and clustering."""

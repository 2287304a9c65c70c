"""What keeps a table well besides writing: rolling back failed writes, compaction, indexes, archiving."""

"""What keeps a table well besides writing: taking back failed writes, compaction, indexes, archiving."""

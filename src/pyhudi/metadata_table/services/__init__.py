"""Compaction, log compaction, cleaning, rollback and validation of the metadata table.

It imports `format`, `read`, `write` and `indexes`.
"""

"""Payloads of actions: what a commit, clean, compaction, clustering, rollback, restore, savepoint or index build says.

It imports `files`.
"""

"""Incremental and change data queries: instant ranges and the rows that changed in them.

It imports `snapshot` and `filter`.
"""

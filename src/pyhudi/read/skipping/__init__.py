"""Data skipping: partitions, files and row groups that a condition excludes, by statistics, buckets and indexes.

It imports `snapshot`, `filter` and `incremental`.
"""

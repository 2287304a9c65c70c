"""The kinds of partitions: which records files, statistics, bloom filters and key indexes have for a commit.

It imports `format`, `read` and `write`.
"""

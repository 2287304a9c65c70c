"""Reading the metadata table: partitions, file slices, statistics, the file system view it backs, valid instants.

It imports `format`.
"""

"""A table as of an instant: query type, schema, file slices, prefetching.

It imports no other folder of `read`.
"""

"""The work on rows: Arrow batches in, files and small values out.

The first layer that knows pyarrow: reading and merging slices, writing base and log files, finding keys, statistics, filters. Tasks
pickle, and run alike in this process and in Spark's.
"""

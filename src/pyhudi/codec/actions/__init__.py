"""Action files of the timeline: commits, plans, cleans, rollbacks, the manifest of the archive.

It imports `avro`.
"""

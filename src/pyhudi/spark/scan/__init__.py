"""Native scans of file slices: file index, partition search, pushed filters, merging of log files in tasks.

It imports `jvm`, `engine` and `input`.
"""

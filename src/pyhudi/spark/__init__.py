"""Spark as the engine: native scans, writes in tasks, DataFrame reader and writer, streams.

Nothing below this layer knows PySpark.
"""

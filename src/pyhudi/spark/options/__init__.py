"""Options of Spark readers, writers and sessions, as values.

It imports `jvm`, `engine`, `input` and `scan`.
"""

"""Incoming DataFrames: collecting small ones, local rows, Parquet sources.

It imports `jvm` and `engine`.
"""

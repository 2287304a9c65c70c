"""Hudi tables in the session's catalog, and what their names resolve to.

It imports all folders before it: `jvm`, `engine`, `input`, `scan`, `options`.
"""

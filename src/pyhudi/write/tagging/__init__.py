"""Tagging: the file slice of each incoming row, and what happens to the row there.

It imports `input` and `plan`.
"""

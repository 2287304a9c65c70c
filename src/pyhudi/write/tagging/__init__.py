"""TagOptions: the file slice of each incoming row, and what becomes of the row.

It imports `input` and `plan`.
"""

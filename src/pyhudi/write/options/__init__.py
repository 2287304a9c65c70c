"""The options of a write as one value, validated against the table, with the index resolved.

It imports `input`, `plan` and `tagging`.
"""

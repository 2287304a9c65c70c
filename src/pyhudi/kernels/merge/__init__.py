"""Merging: the versions of a record in a file slice and in incoming rows, by the table's merge mode.

It imports `arrays`, `base_file`, `keys` and `log_file`.
"""

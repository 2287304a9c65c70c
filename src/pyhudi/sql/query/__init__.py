"""Queries: Hudi tables named in a statement, table-valued functions, views.

It imports `text`, `statement` and `write`.
"""

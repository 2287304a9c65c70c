"""Filters: SQL text or Arrow expressions parsed to conditions, evaluated on rows.

It imports `snapshot`.
"""

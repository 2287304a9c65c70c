"""Lazy reads of a table for Arrow, polars, pandas and DuckDB. May import everything below `table`, and no other folder of it."""

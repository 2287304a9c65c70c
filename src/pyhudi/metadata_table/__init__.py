"""The table beside a table that knows its files, their statistics and where records live."""

"""The metadata table: the files of a table, their statistics and the locations of records."""

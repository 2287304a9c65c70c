"""`table.inspect`: files, file slices, statistics, logs and health of a table as Arrow tables."""

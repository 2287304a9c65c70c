"""Repairs of a table: partition metafiles, table properties, files of cleans, duplicate rows, pending actions that nobody runs."""

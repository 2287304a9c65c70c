"""Cleaning: file slices that no retained state of the table needs are deleted, so that a table under writes keeps its size."""

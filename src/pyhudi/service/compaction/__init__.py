"""Compaction: log files become base files again. Plan, run, and know what is due after a write."""

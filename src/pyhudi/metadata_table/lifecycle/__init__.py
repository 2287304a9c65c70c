"""Opening the metadata table for a write, keeping it synchronised with the data table, removing what is orphaned.

The topmost folder of `metadata_table`: it may import all others.
"""

"""Procedures that repair a table, revert runs that died, and import files."""

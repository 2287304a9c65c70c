"""Procedures that repair a table, revert runs that died, change its table version, and import files."""

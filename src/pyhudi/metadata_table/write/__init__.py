"""Writing the metadata table: deltacommits, file groups, initialisation.

It imports `format` and `read`.
"""

"""`hoodie.properties` as values: table version, type, keys, merge mode, payload classes.

It imports `files`.
"""

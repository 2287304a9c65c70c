"""Base files: reading, writing, meta columns, bloom filters, key ranges, projection to the table's schema.

It imports `arrays`.
"""

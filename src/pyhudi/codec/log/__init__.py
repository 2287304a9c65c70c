"""Log files as bytes: blocks, headers, delete lists, ordering values, record positions.

It imports `avro`.
"""

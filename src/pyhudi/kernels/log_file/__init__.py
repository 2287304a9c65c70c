"""Log files: blocks to rows and rows to blocks, deletes, record positions, which blocks a reader may see.

It imports `arrays`, `base_file` and `keys`.
"""

"""Change data capture: the log of changes that a write keeps, and the rows of a change query.

It imports the folders of `kernels` that precede it: `arrays`, `base_file`, `keys`, `log_file` and `merge`.
"""

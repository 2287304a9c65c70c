"""Record keys and partition paths of whole columns, and looking keys up in files.

It imports `arrays` and `base_file`.
"""

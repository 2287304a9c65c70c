"""What wins between two records of one key.

Each rule is here on two records, slow and obvious; `kernels` has the same on columns, and property tests hold both equal.
"""

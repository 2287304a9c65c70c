"""A timeline and a listing as file groups and file slices.

Which files count at a time, which are left over, which wait for a compaction; values that do not change.
"""

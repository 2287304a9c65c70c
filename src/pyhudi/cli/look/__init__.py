"""Commands that read a table, or a file, and change nothing.

`ls` and `show` load neither pyarrow nor what writes, so that they answer at once.
"""

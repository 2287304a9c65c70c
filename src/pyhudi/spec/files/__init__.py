"""Files of a table as values: names, file groups, log blocks, markers, partition paths.

It imports no other folder of `spec`.
"""

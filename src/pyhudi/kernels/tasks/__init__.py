"""The tasks that an engine runs: write, append, compact, log compact, resize buckets.

The topmost folder of `kernels`: it may import all others.
"""

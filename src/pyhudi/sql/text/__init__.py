"""SQL text: tokens by Spark's lexical rules, and the position of an error.

It imports no other folder of `sql`.
"""

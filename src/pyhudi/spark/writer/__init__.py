"""`df.write.format("hudi")`, `writeTo` and `mergeInto`: writes distributed over Spark's tasks.

It imports the folders up to `index_join`.
"""

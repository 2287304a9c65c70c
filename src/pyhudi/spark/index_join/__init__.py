"""Where incoming rows live, found by joins on Spark: key joins, bucket joins, record index, partition updates.

It imports the folders up to `reader`.
"""

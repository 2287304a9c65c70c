"""Running pyhudi's tasks on Spark.

It imports `jvm`.
"""

"""`spark.read.format("hudi")`: snapshots, incremental reads and change data as DataFrames.

It imports all folders before it, up to `catalog`.
"""

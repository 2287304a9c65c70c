"""`HudiTable`, from which everything is reached without Spark: create, open, write, read, inspect, serve."""

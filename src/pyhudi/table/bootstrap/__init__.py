"""Bootstrap: a table of the Parquet files of a folder, with their data left where it is or copied."""

"""Deduplication: of the rows of a record key in a partition one stays, by a rewrite of the file slices that hold them."""

"""Rescaling: another number of buckets for partitions of a table with a bucket index of fixed buckets, by a rewrite of these partitions."""

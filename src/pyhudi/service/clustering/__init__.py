"""Clustering: file groups are rewritten, or the buckets of consistent hashing are split and merged. Plan, execution, and inline trigger."""

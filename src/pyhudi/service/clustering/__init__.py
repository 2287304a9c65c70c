"""Clustering, as far as it is served: the buckets of hash rings are split and merged. Plan, run, and know what is due after a write."""

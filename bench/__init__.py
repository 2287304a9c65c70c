"""Benchmarks: the workloads of docs/benchmarks.md, with floors and peers in one rotation."""

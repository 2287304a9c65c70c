"""What a write reports once it is committed: commit callbacks, metrics. No failure here is one of the commit: it is logged, and in the
result.

Rules: `HoodieWriteCommitCallback`, `HoodieMetrics`; design: docs/design/0135-commit-callbacks-and-metrics.md.
"""

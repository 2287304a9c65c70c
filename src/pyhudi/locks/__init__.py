"""Lock providers: the locks by which writers on several machines, and Apache Hudi, exclude each other.

A storage with a lock provider takes the table's own lock first, so that the writers of one machine queue in order, and then the provider's
(docs/design/0108-lock-providers.md).
"""

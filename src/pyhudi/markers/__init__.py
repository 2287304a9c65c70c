"""Writing markers: files of their own (direct), or lines of a few files that the driver writes for all tasks (timeline-server based).

docs/design/0155-timeline-server-markers.md. Reading them, whatever their kind, is `pyhudi.txn.markers`.
"""

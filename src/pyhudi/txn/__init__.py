"""One write, from the lock to the completed instant.

Markers, checks against what others did, the metadata table kept in step, and rolling back what failed.
"""

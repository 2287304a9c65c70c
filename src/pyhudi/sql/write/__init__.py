"""What INSERT, UPDATE, DELETE and MERGE share: the target table, assignments, the merge query.

It imports `text` and `statement`.
"""

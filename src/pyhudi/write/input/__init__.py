"""Incoming data of a write: conformed to the table's schema, with record keys, split by partition.

It imports no other folder of `write`.
"""

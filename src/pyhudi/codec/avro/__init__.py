"""Avro: container files, and records of Hudi's own schemas.

It imports no other folder of `codec`.
"""

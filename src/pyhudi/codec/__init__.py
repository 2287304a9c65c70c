"""Bytes to values of `spec` and back.

Properties, action files, log blocks, HFiles, footers and page indexes of Parquet files, bloom filters, record positions, archived
timelines. Bytes are untrusted: no length is believed, memory is bounded by the size of the input, and what is wrong ends in an error that
names file and offset.
"""

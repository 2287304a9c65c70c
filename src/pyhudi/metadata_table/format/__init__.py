"""Records of the metadata table: keys, payloads, column bounds, index definitions, partition names.

It imports no other folder of `metadata_table`.
"""

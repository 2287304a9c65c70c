"""Connections with services outside the table: a Hive metastore, AWS. Catalog synchronisation and lock providers use them."""

"""pyhudi on Spark, merge-on-read: small changes of a large table."""

from __future__ import annotations

from bench.contestants import pyhudi_changes


class Contestant(pyhudi_changes.Contestant):
    """As copy-on-write, without compactions between the changes."""

    clauses = "USING hudi TBLPROPERTIES (primaryKey = 'key', type = 'mor', hoodie.compact.inline = 'false')"

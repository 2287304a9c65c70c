"""pyhudi on Spark, merge-on-read with a record index: small changes of a large table."""

from __future__ import annotations

from bench.contestants import pyhudi_changes


class Contestant(pyhudi_changes.Contestant):
    """As merge-on-read, with a record index."""

    clauses = (
        "USING hudi TBLPROPERTIES (primaryKey = 'key', type = 'mor', hoodie.compact.inline = 'false',"
        " hoodie.metadata.record.index.enable = 'true')"
    )

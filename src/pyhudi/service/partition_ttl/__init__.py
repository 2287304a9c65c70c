"""Partition lifetimes: partitions that nobody has written to for some days, or that were made so long ago, are dropped.

May import what the other services may, and from `write` which file groups a delete of partitions replaces.
"""

from __future__ import annotations

from pyhudi.service.partition_ttl.run_partition_ttl import expire_partitions
from pyhudi.service.partition_ttl.ttl_result import ExpiredPartition, TtlResult
from pyhudi.service.partition_ttl.ttl_settings import TtlSettings, ttl_settings

__all__ = ["ExpiredPartition", "TtlResult", "TtlSettings", "expire_partitions", "ttl_settings"]

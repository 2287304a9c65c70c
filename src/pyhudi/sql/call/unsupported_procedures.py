"""Procedures of Hudi whose service comes with a later release of pyhudi: each is refused by its name."""

from __future__ import annotations

from typing import Final

_REASONS: Final = {
    "bucket numbers by partition come with a later release": "partition_bucket_index_manager",
}
#: Reason by name.
LATER: Final = {name: reason for reason, names in _REASONS.items() for name in names.split()}

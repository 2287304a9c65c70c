"""Which contestants meet in one rotation, and what each of them cannot do."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Lane:
    """Contestants that run side by side; `needs` are environment variables without which the lane is left out."""

    name: str
    contestants: tuple[str, ...]
    skipped: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    needs: tuple[str, ...] = ()

    def available(self) -> bool:
        """True when what the lane needs is there."""
        return all(os.environ.get(name) for name in self.needs)


WRITES = ("load", "upsert", "commit10")

LOCAL = Lane("local", ("floor", "pyhudi_local", "deltalake"), {"floor": ("commit10",)})
SPARK = Lane(
    "spark",
    ("floor", "spark_parquet", "pyhudi_spark", "spark_raw"),
    {
        "floor": ("count", "sums", "scan", "commit10"),
        "spark_parquet": ("upsert", "count", "sums", "scan", "commit10"),
        "spark_raw": WRITES,
    },
)
PEERS = (Lane("hudi", ("pyhudi_spark", "hudi_jvm"), needs=("PYHUDI_JUDGE_PYTHON", "PYHUDI_JUDGE_JAR")),)

"""Which contestants meet in one rotation, what they do, and what each of them cannot do."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

WRITES = ("load", "upsert", "commit10")
READS = ("count", "sums", "scan")


@dataclass(frozen=True)
class Step:
    """One method of every contestant, called with each number in turn; `label` names it in the report."""

    label: str
    method: str
    numbers: range


@dataclass(frozen=True)
class Lane:
    """Contestants that run side by side; `needs` are environment variables without which the lane is left out."""

    name: str
    contestants: tuple[str, ...]
    steps: tuple[Step, ...]
    skipped: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    needs: tuple[str, ...] = ()

    def available(self) -> bool:
        """True when what the lane needs is there."""
        return all(os.environ.get(name) for name in self.needs)


_COPY_ON_WRITE = (
    *(Step(method, method, range(3)) for method in ("load", "upsert", *READS)),
    Step("commit10", "commit10", range(20)),
)
#: Three rounds of changes and reads, seven more and reads again, then compaction.
_MERGE_ON_READ = (
    Step("load", "load", range(1)),
    Step("upsert", "upsert", range(3)),
    *(Step(method, method, range(3)) for method in READS),
    Step("compact", "compact", range(3)),
    Step("upsert 4-10", "upsert", range(3, 10)),
    *(Step(f"{method} 10", method, range(3)) for method in READS),
)
_HUDI = ("PYHUDI_REFERENCE_PYTHON", "PYHUDI_REFERENCE_JAR")

LOCAL = Lane("local", ("floor", "pyhudi_local", "deltalake"), _COPY_ON_WRITE, {"floor": ("commit10",)})
SPARK = Lane(
    "spark",
    ("floor", "spark_parquet", "pyhudi_spark", "spark_raw"),
    _COPY_ON_WRITE,
    {"floor": (*READS, "commit10"), "spark_parquet": ("upsert", *READS, "commit10"), "spark_raw": WRITES},
)
LOCAL_MOR = Lane("local-mor", ("floor_mor", "pyhudi_local", "pyhudi_local_mor"), _MERGE_ON_READ, {"pyhudi_local": ("compact",)})
SPARK_MOR = Lane("spark-mor", ("floor_mor", "pyhudi_spark", "pyhudi_spark_mor"), _MERGE_ON_READ, {"pyhudi_spark": ("compact",)})
#: Changes of a table of many narrow rows; each changes what the one before has left.
NARROW = Lane(
    "narrow",
    ("pyhudi_narrow", "deltalake_narrow"),
    tuple(Step(method, method, range(3)) for method in ("load", "one", "tenth", "delete")),
)
#: Small changes of the large table by SQL, beside the other formats on the same Spark; Maven brings their jars.
CHANGES = Lane(
    "changes",
    ("pyhudi_changes", "pyhudi_changes_mor", "iceberg_changes", "delta_changes"),
    (
        Step("load", "load", range(1)),
        Step("MERGE of ten rows", "merge10", range(6)),
        Step("INSERT of ten rows", "insert10", range(6)),
        Step("MERGE of 1 %", "merge1pct", range(4)),
        Step("MERGE of ten rows again", "merge10", range(6, 10)),
    ),
)
HUDI = Lane("hudi", ("pyhudi_spark", "hudi_jvm"), _COPY_ON_WRITE, needs=_HUDI)
HUDI_MOR = Lane("hudi-mor", ("pyhudi_spark_mor", "hudi_jvm_mor"), _MERGE_ON_READ, needs=_HUDI)

OWN = (LOCAL, NARROW, SPARK, LOCAL_MOR, SPARK_MOR)
PEERS = (HUDI, HUDI_MOR, CHANGES)

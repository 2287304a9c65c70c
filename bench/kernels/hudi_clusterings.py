"""Apache Hudi's half of `bench.kernels.clusterings`: clusters tables one after the other and prints the seconds of each."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from bench.contestants.hudi_jvm import Contestant


def main() -> None:
    """Cluster the tables that the JSON of the only argument names with their options."""
    tables = json.loads(sys.argv[1])
    spark = Contestant(Path(), Path(tables[0][0]).parent).spark
    for path, options in tables:
        given = ",".join(f"{key}={value}" for key, value in options.items() if "," not in value)
        columns = next((f", order => '{value}'" for key, value in options.items() if key.endswith("sort.columns")), "")
        began = time.perf_counter()
        done = spark.sql(f"CALL run_clustering(path => '{path}', op => 'scheduleandexecute'{columns}, options => '{given}')").collect()
        print(time.perf_counter() - began, flush=True)
        print([row.asDict() for row in done], file=sys.stderr)


if __name__ == "__main__":
    main()

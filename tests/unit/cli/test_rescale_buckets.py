"""`pyhudi rescale-buckets`."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
from click.testing import CliRunner

from pyhudi import HudiTable
from pyhudi.cli.main import main

SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string()})
BUCKETS = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "2"}


def test_partitions_are_named_and_rescaled(tmp_path: Path) -> None:
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"], partition_by=["city"])
    table.upsert([{"id": n, "city": "oslo"} for n in range(40)], BUCKETS)
    call = ["rescale-buckets", table.storage.uri, "--expressions", "oslo,4"]
    assert CliRunner().invoke(main, [*call, "--dry-run"]).output == "1 partitions would be rescaled\n  oslo: 2 -> 4 buckets\n"
    done = json.loads(CliRunner().invoke(main, [*call, "--json"]).output)
    assert (done["state"], done["files"], done["partitions"]) == ("completed", 4, [{"path": "oslo", "before": 2, "after": 4}])
    added = CliRunner().invoke(main, ["rescale-buckets", table.storage.uri, "--expressions", "osl,3", "--add"])
    assert added.output == "1 partitions are rescaled; 40 rows in 3 files\n  oslo: 4 -> 3 buckets\n"
    assert CliRunner().invoke(main, ["rescale-buckets", table.storage.uri, "--expressions", "(,3"]).exit_code == 2
    assert CliRunner().invoke(main, ["rescale-buckets", table.storage.uri]).exit_code == 2

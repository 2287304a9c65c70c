"""Spark reads and writes tables on S3, by Hadoop's S3A, with the credentials that pyhudi has, under each scheme of S3."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import pyspark
import pytest

from tests.servers.s3a_session import TYPES
from tests.slow_cases import slow_cases

#: Rows and sum of the fares: after the upsert, and at the end.
UPSERTED = [20, 380 - 12 - 4]
AT_THE_END = [20, 380 - 12 - 4 + 45 + 7 - 12]


def environment(folder: Path, bucket: dict[str, str], credentials: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the variables of a process and the settings of Hadoop, where the credentials are given in one of the ways."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    keys = {"AWS_ACCESS_KEY_ID": bucket["key"], "AWS_SECRET_ACCESS_KEY": bucket["secret"]}
    if credentials == "environment":
        return {**plain, **keys, "AWS_ENDPOINT_URL": bucket["endpoint_url"], "AWS_REGION": bucket["region"]}, {}
    if credentials == "settings":
        named = {"access.key": "key", "secret.key": "secret", "endpoint": "endpoint_url", "endpoint.region": "region"}
        return plain, {"fs.s3a.path.style.access": "true", **{f"fs.s3a.{name}": bucket[option] for name, option in named.items()}}
    stated = "\n".join(f"{name.lower()} = {value}" for name, value in keys.items())
    (folder / "credentials").write_text(f"[work]\n{stated}\n")
    (folder / "config").write_text(f"[profile work]\nregion = {bucket['region']}\nendpoint_url = {bucket['endpoint_url']}\n")
    files = {"AWS_SHARED_CREDENTIALS_FILE": str(folder / "credentials"), "AWS_CONFIG_FILE": str(folder / "config")}
    return {**plain, **files, "AWS_PROFILE": "work"}, {}


CASES = [("s3", "profile"), ("s3a", "settings"), ("s3", "environment"), ("s3n", "settings"), ("s3", "settings", "processes")]


@pytest.mark.parametrize("case", slow_cases(CASES, CASES[1:]), ids=" by ".join)
def test_tables_on_s3_by_frames_sql_and_streams(case: tuple[str, ...], bucket: dict[str, str], tmp_path: Path) -> None:
    if not os.environ.get("PYHUDI_S3A"):
        pytest.skip("PYHUDI_S3A is not set; `make test-servers` sets it")
    scheme, credentials, *executors = case
    urllib.request.urlopen(urllib.request.Request(f"{bucket['endpoint_url']}/source", method="PUT"))
    variables, settings = environment(tmp_path, bucket, credentials)
    url = f"{scheme}://bucket/spark_{scheme}_{credentials}"
    command = [sys.executable, "-m", "tests.servers.s3a_session", str(tmp_path / "warehouse"), url, json.dumps(settings), *executors]
    repository = Path(__file__).parents[2]
    variables |= {"SPARK_HOME": str(Path(pyspark.__file__).parent), "PYTHONPATH": str(repository)} if executors else {}
    run = subprocess.run(command, capture_output=True, text=True, cwd=repository, check=False, env=variables)
    assert run.returncode == 0, run.stderr[-3000:]
    answers = json.loads(run.stdout.splitlines()[-1])
    expected = {"frame": UPSERTED, "sql": AT_THE_END, "changes": AT_THE_END, "stream": AT_THE_END}
    assert answers == {**dict.fromkeys(TYPES, expected), "bootstrapped": [2, 30]}

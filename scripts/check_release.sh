#!/usr/bin/env bash
# Builds the wheel and the source distribution, looks at what they hold, and runs the quick start from the wheel in an environment that has nothing else.
# Usage: check_release.sh PYTHON JAVA_HOME. What is built stays in dist/.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$1
export JAVA_HOME=$2
unset PYTHONPATH SPARK_HOME PYSPARK_PYTHON
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

step() { echo "--- $*"; }

step "build"
rm -rf dist
"$python" -m venv "$work/build"
"$work/build/bin/python" -m pip install --quiet --constraint constraints.txt build twine
"$work/build/bin/python" -m build --outdir dist . >"$work/build.log" 2>&1 || { cat "$work/build.log"; exit 1; }

step "metadata and contents"
"$work/build/bin/python" -m twine check --strict dist/*
"$python" scripts/check_distribution.py dist

step "an environment with the wheel alone: the base install reads and writes a table"
"$python" -m venv "$work/base"
"$work/base/bin/python" -m pip install --quiet --constraint constraints.txt dist/*.whl
(cd "$work" && base/bin/python - <<'PROGRAM'
import pyarrow as pa
import pyhudi

table = pyhudi.HudiTable.create("trips", pa.schema({"id": pa.int64(), "fare": pa.float64()}), name="trips", keys=["id"])
table.upsert([{"id": 1, "fare": 7.5}, {"id": 2, "fare": 12.0}])
table.delete(where="fare > 10")
assert pyhudi.HudiTable.open("trips").to_arrow().to_pylist() == [{"id": 1, "fare": 7.5}]
print(f"pyhudi {pyhudi.__version__}: base install works")
PROGRAM
)

step "the quick start, with the extras that it names"
"$python" -m venv "$work/quickstart"
"$work/quickstart/bin/python" -m pip install --quiet --constraint constraints.txt "$(echo dist/*.whl)[spark,quickstart]"
(cd "$work" && quickstart/bin/python -m pyhudi.examples.quickstart)
echo "release-check: passed; dist/ holds $(cd dist && echo *)"

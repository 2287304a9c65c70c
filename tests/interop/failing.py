"""A write of Apache Hudi that dies between its data files and its commit."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from tests.interop.reference import ReferenceFailure, ReferenceHudi

# The check of the rows before the commit never passes, and Hudi leaves the instant pending, as after a crash.
FAILS_BEFORE_COMMIT = {
    "hoodie.precommit.validators": "org.apache.hudi.client.validator.SqlQuerySingleResultPreCommitValidator",
    "hoodie.precommit.validators.single.value.sql.queries": "SELECT count(*) FROM <TABLE_NAME>#-1",
}


def fail_commit(reference: ReferenceHudi, path: Path, rows: pa.Table, options: Mapping[str, str]) -> None:
    """Appends `rows` in a commit that stays pending with data files and markers."""
    try:
        reference.write(path, rows, "append", {**options, **FAILS_BEFORE_COMMIT})
    except ReferenceFailure as error:
        if "pre-commit validation" in str(error):
            return
        raise
    raise AssertionError("Apache Hudi committed although its validator could not pass")

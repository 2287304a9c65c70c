"""A write by key tells the rewrites of base files where the index has found the records."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.kernels.merge.incoming_positions import IncomingPositions
from pyhudi.kernels.merge.merge_join import IncomingRows


def rows_of(keys: list[str], version: int) -> pa.Table:
    return pa.table({"id": keys, "v": [version] * len(keys)})


@pytest.mark.parametrize("index", ["SIMPLE", "BLOOM", "GLOBAL_SIMPLE"])
def test_upserts_and_deletes_change_every_row_of_a_key(index: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = HudiTable.create(str(tmp_path / "t"), rows_of(["a"], 0).schema, name="t", keys=("id",))
    table.bulk_insert(rows_of(["a", "b", "c", "b", "d"], 0))
    positions: list[list[int]] = []
    others: list[int] = []
    init = IncomingRows.__init__

    def note(incoming: IncomingRows, rows: pa.Table, context: object) -> None:
        known = IncomingPositions.of(rows)
        positions.append(known.positions.tolist())
        others.append(len(known.others))
        init(incoming, rows, context)  # type: ignore[arg-type]

    monkeypatch.setattr(IncomingRows, "__init__", note)
    table.upsert(rows_of(["new", "d", "b", "a"], 1), options={"hoodie.index.type": index})
    table.delete(rows_of(["c", "b", "other"], 2), options={"hoodie.index.type": index})
    stored = sorted(zip(*table.to_arrow().to_pydict().values(), strict=True))
    assert stored == [("a", 1), ("d", 1), ("new", 1)]
    assert positions == [[0, 4], [2]]  # the key "b" is in two rows, which are searched for
    assert others[0] >= 1
    assert others[1] == 1

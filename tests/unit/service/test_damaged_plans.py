"""Plans of compactions and clusterings that cannot be read keep writers out until they are rolled back, with what their runs wrote."""

from __future__ import annotations

import itertools

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.testing.fault_injection import Crashed
from pyhudi.testing.invariants import garbage

SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string()})
QUIET = {"hoodie.parquet.small.file.limit": "0", "hoodie.compact.inline": "false"}
ONE_DELTA = {"hoodie.compact.inline.max.delta.commits": "1"}
numbers = itertools.count()


def planned(service: str, version: str, *, run: bool, monkeypatch: pytest.MonkeyPatch) -> tuple[HudiTable, str, str]:
    """A table with a pending service, whose run died before its last step or never began; its instant, and the path of the plan."""
    kind = "COPY_ON_WRITE" if service == "cluster" else "MERGE_ON_READ"
    table = HudiTable.create(
        f"memory://damaged-plan-{next(numbers)}",
        SCHEMA,
        name="t",
        keys=["id"],
        partition_by=["city"],
        table_type=kind,
        options={"hoodie.write.table.version": version},
    )
    for number in range(3):
        table.upsert([{"id": 0, "city": "oslo"}, {"id": number, "city": "rome"}], QUIET)
    options = ONE_DELTA if service == "compact" else {"hoodie.clustering.plan.strategy.single.group.clustering.enabled": "true"}
    (result,) = getattr(table.services, service)(mode="schedule", options=options)
    if run:
        with monkeypatch.context() as patch:
            for module in ("compaction.compaction_service", "clustering.rewrite_service"):
                patch.setattr(f"pyhudi.service.{module}.check_inflight", _die)
            patch.setattr("pyhudi.service.service_executor._rollback_after_failure", lambda *_, **__: None)
            with pytest.raises(Crashed):
                getattr(table.services, service)(mode="execute")
    folder = ".hoodie" if version == "6" else ".hoodie/timeline"
    (path,) = (one.path for one in table.storage.list(folder) if one.name.startswith(result.instant) and one.name.endswith(".requested"))
    return table, result.instant, path


def _die(*_: object) -> None:
    raise Crashed("before the last step")


def cases() -> list[tuple[str, str, str, bool]]:
    """All but those where no service is pending: without an inflight file, and an empty replacecommit, which is a failed write."""
    every = itertools.product(("cluster", "compact"), ("6", "9"), ("empty", "torn", "missing"), (False, True))
    return [one for one in every if one[2:] != ("missing", False) and one[:3] != ("cluster", "6", "empty")]


@pytest.mark.parametrize(("service", "version", "damage", "run"), cases())
def test_a_damaged_plan_is_rolled_back_with_what_its_run_wrote(
    service: str, version: str, damage: str, run: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, instant, path = planned(service, version, run=run, monkeypatch=monkeypatch)
    rows = sorted(table.to_arrow().to_pylist(), key=str)
    content = table.storage.read(path)
    table.storage.delete(path)
    if damage != "missing":
        table.storage.create(path, content[: -len(content) if damage == "empty" else -30])

    table = HudiTable(table.storage)
    assert sorted(table.to_arrow().to_pylist(), key=str) == rows
    for call in (getattr(table.services, service), lambda: table.upsert([{"id": 1, "city": "rome"}], QUIET)):
        with pytest.raises(CorruptTableError, match=rf"{instant}.*{path.replace('.', '[.]')}' back from a copy.*rollback\('{instant}'\)"):
            call()
    (planned_rollback,) = table.services.rollback(instant, dry_run=True)
    assert bool(planned_rollback.requests) == run
    assert table.services.rollback(instant) == (planned_rollback,)
    assert sorted(table.to_arrow().to_pylist(), key=str) == rows
    assert garbage(table.storage) == []
    table.upsert([{"id": 1, "city": "rome"}])
    assert [row for row in table.inspect.health().to_pylist() if row["check"] != "nothing pending"] == []


def test_a_damaged_plan_stays_where_logs_lie_on_top_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    table, instant, path = planned("compact", "6", run=False, monkeypatch=monkeypatch)
    table.upsert([{"id": 0, "city": "oslo"}], QUIET)  # its log file is named by the time of the plan
    content = table.storage.read(path)
    table.storage.delete(path)
    table.storage.create(path, content[:-30])
    before = sorted(one.path for one in table.storage.list("oslo"))
    with pytest.raises(UnsupportedError, match=rf"{instant}.*written on top of it.*back from a copy"):
        HudiTable(table.storage).services.rollback(instant)
    assert sorted(one.path for one in table.storage.list("oslo")) == before
    assert table.storage.stat(path) is not None

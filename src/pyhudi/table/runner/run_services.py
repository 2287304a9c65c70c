"""Runs the services of a policy: one table after the other, each service by need; what fails does not stop what comes after it.

Each service is the method of `table.services`, and so the one executor of services, with its locks and its rollback of failed runs.
Cleaning is first, which frees space, then compaction and clustering, which need it, then archival and lifetimes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from pyhudi.engine.engine_protocol import Engine
from pyhudi.errors import HudiError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.index.resolve_index import has_fixed_buckets
from pyhudi.locks.choose_lock import with_lock_provider
from pyhudi.service.clustering.inline_clustering import commits_since_clustering
from pyhudi.service.clustering.pending_clustering_plans import pending_clusterings
from pyhudi.service.partition_ttl.ttl_settings import DAYS_RETAIN
from pyhudi.spec.options import resolve
from pyhudi.table.hudi_table import HudiTable
from pyhudi.table.runner.run_report import DONE, FAILED, NOTHING, PLANNED, Result, RunReport, ServiceRun
from pyhudi.table.runner.service_policy import ServicePolicy, TablePolicy
from pyhudi.table.services_by_options import service_options
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.txn.concurrency import concurrency
from pyhudi.txn.heartbeat_settings import heartbeat_settings

_COMMITS: Final = "hoodie.clustering.inline.max.commits"
_ASYNC_COMMITS: Final = "hoodie.clustering.async.max.commits"


def run_services(
    policy: ServicePolicy,
    *,
    dry_run: bool = False,
    engine: Engine | None = None,
    stops: Callable[[], bool] = lambda: False,
    tell: Callable[[ServiceRun], None] = lambda _: None,
) -> RunReport:
    """Run one round of a policy.

    Args:
        policy: the tables and their services.
        dry_run: only find out what would be done.
        engine: runs the tasks; threads of this process by default.
        stops: is asked before each service; the round ends when it says so.
        tell: is called with each run when it has ended.

    Returns:
        All runs, those that failed and those without work among them.

    Example:
        >>> policy = ServicePolicy((TablePolicy(table.storage.uri, ("archive",)),))
        >>> [run.service for run in run_services(policy, dry_run=True).runs]
        ['archive']
    """
    runs: list[ServiceRun] = []
    for one in policy.tables:
        for run in _run_table(one, dry_run, engine, stops):
            if run is None:
                return RunReport(tuple(runs), interrupted=True)
            runs.append(run)
            tell(run)
    return RunReport(tuple(runs))


def _run_table(policy: TablePolicy, dry_run: bool, engine: Engine | None, stops: Callable[[], bool]) -> Iterator[ServiceRun | None]:
    """Yield the runs of one table, and None when the round has to end."""
    if stops():
        yield None
        return
    try:
        table = HudiTable.open(policy.path, policy.storage_options)
    except (HudiError, OSError, ValueError) as error:
        yield ServiceRun(policy.path, "open", FAILED, str(error))
        return
    try:
        _check_options(table, policy)
    except (HudiError, OSError) as error:
        yield ServiceRun(policy.path, "options", FAILED, str(error))
        return
    for service in policy.services:
        if stops():
            yield None
            return
        yield _run(table, policy, service, dry_run=dry_run, engine=engine)


def _check_options(table: HudiTable, policy: TablePolicy) -> None:
    """Refuse options that all services would refuse: a table is said to have them once.

    Raises:
        OptionError: one contradicts the table, or is none of a lock or of several writers.
        UnsupportedError: a lock provider or a strategy is not served.
    """
    options = service_options(table.storage, policy.options)
    with_lock_provider(table.storage, options)
    concurrency(options)
    heartbeat_settings(options)


def _run(table: HudiTable, policy: TablePolicy, service: str, *, dry_run: bool, engine: Engine | None) -> ServiceRun:
    began = time.perf_counter()
    try:
        results, reason = _SERVICES[service](table, policy.options, dry_run, engine)
    except (HudiError, OSError) as error:
        return ServiceRun(policy.path, service, FAILED, str(error), seconds=time.perf_counter() - began)
    except Exception as error:  # noqa: BLE001 - a defect that one table shows must not leave the others without their services
        return ServiceRun(policy.path, service, FAILED, f"{type(error).__name__}: {error}", seconds=time.perf_counter() - began)
    state = (PLANNED if dry_run else DONE) if results else NOTHING
    return ServiceRun(policy.path, service, state, reason, tuple(results), time.perf_counter() - began)


_Outcome = tuple[Sequence[Result], str]


def _clean(table: HudiTable, options: Mapping[str, str], dry_run: bool, engine: Engine | None) -> _Outcome:
    results = table.services.clean(dry_run=dry_run, options=options, engine=engine)
    return results, "" if results else "no file slice is older than what the policy of cleaning retains"


def _compact(table: HudiTable, options: Mapping[str, str], dry_run: bool, engine: Engine | None) -> _Outcome:
    if not table.config.is_merge_on_read:
        return (), "the table is copy-on-write"
    results = table.services.compact(dry_run=dry_run, options=options, engine=engine)
    if results:
        return results, ""
    key = "hoodie.compact.inline.max.delta.commits"
    return (), f"no log files, or fewer delta commits since the last compaction than {key}={resolve(options).integer(key)}"


def _cluster(table: HudiTable, options: Mapping[str, str], dry_run: bool, engine: Engine | None) -> _Outcome:
    timeline = load_timeline(table.storage, table.config)
    if not pending_clusterings(table.storage, table.config, timeline):
        given = resolve(options)
        key = _ASYNC_COMMITS if given.get(_COMMITS) is None and given.get(_ASYNC_COMMITS) is not None else _COMMITS
        since, due = commits_since_clustering(table.storage, table.config, timeline), given.integer(key)
        if since < due:
            return (), f"{since} commits since the last clustering, {key} is {due}"
        if has_fixed_buckets(FileSystemView(table.storage, table.config, timeline)):
            return (), "the file groups are a fixed number of buckets, which rows cannot leave"
    results = table.services.cluster(dry_run=dry_run, options=options, engine=engine)
    return results, "" if results else "no small files to join, and nothing to sort or to resize"


def _archive(table: HudiTable, options: Mapping[str, str], dry_run: bool, engine: Engine | None) -> _Outcome:  # noqa: ARG001
    result = table.services.archive(options=options, dry_run=dry_run)
    if result.instants or result.metadata_instants:
        return (result,), ""
    return (), result.kept_because or "no more commits are active than hoodie.keep.max.commits"


def _expire(table: HudiTable, options: Mapping[str, str], dry_run: bool, engine: Engine | None) -> _Outcome:  # noqa: ARG001
    if not table.config.partition_fields:
        return (), "the table has no partitions"
    if resolve(options).get(DAYS_RETAIN) is None:
        return (), f"no lifetime is set: {DAYS_RETAIN}"
    result = table.services.ttl(options=options, dry_run=dry_run)
    return ((result,), "") if result.partitions else ((), "no partition has expired")


_SERVICES: Final[Mapping[str, Callable[[HudiTable, Mapping[str, str], bool, Engine | None], _Outcome]]] = {
    "clean": _clean,
    "compact": _compact,
    "cluster": _cluster,
    "archive": _archive,
    "ttl": _expire,
}

"""Rows that a write lets Spark persist are not compressed, and the session's settings stay what they were."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from pyhudi.spark.jvm.persistence import persisted_until

pytestmark = pytest.mark.spark
COMPRESSED = "spark.sql.inMemoryColumnarStorage.compressed"


@pytest.mark.parametrize("stated", [None, "true", "false"])
def test_rows_are_persisted_without_compression_and_the_setting_is_restored(spark, stated):
    if stated is not None:
        spark.conf.set(COMPRESSED, stated)
    try:
        with ExitStack() as end:
            persisted = persisted_until(end, spark.range(10))
            plan = persisted._jdf.queryExecution().withCachedData()
            assert plan.nodeName() == "InMemoryRelation"
            assert not plan.cacheBuilder().cachedPlan().conf().useCompression()
            assert persisted.count() == 10
            assert spark.conf.get(COMPRESSED, None) == stated
        assert persisted._jdf.queryExecution().sparkSession().sharedState().cacheManager().isEmpty()
    finally:
        spark.conf.unset(COMPRESSED)


def test_writes_of_several_threads_restore_the_setting(spark):
    with ExitStack() as end, ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda count: persisted_until(end, spark.range(count)), range(1, 40)))
    assert spark.conf.get(COMPRESSED, None) is None

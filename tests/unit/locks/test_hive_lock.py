"""Locks of a Hive metastore: options."""

from __future__ import annotations

import sys

import pytest

from pyhudi.errors import OptionError
from pyhudi.locks.choose_lock import lock_provider
from pyhudi.locks.hive_lock import HiveProvider
from pyhudi.spec.options import resolve

KEY = "hoodie.write.lock.hivemetastore."
PROVIDER = {"hoodie.write.lock.provider": "org.apache.hudi.hive.transaction.lock.HiveMetastoreBasedLockProvider"}
WHOLE = {**PROVIDER, f"{KEY}uris": "thrift://a:9083, thrift://b:9083", f"{KEY}database": "Sales", f"{KEY}table": "Trips"}


def test_options_say_which_table_is_locked() -> None:
    pytest.importorskip("pymetastore")
    provider = lock_provider(resolve({**WHOLE, "hoodie.write.lock.heartbeat_interval_ms": "5000"}))
    assert provider == HiveProvider(("thrift://a:9083", "thrift://b:9083"), "sales", "trips", 5.0)
    assert provider.identity == "HiveMetastoreBasedLockProvider at 'sales.trips'"


@pytest.mark.parametrize("missing", ["uris", "database", "table"])
def test_missing_options_are_named(missing) -> None:
    options = {name: value for name, value in WHOLE.items() if name != f"{KEY}{missing}"}
    with pytest.raises(OptionError, match=rf"needs hoodie\.write\.lock\.hivemetastore\.{missing}: the address"):
        lock_provider(resolve(options))


def test_missing_package_is_an_error_that_names_the_extra(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pymetastore.hive_metastore.ThriftHiveMetastore", None)
    with pytest.raises(OptionError, match=r"HiveMetastoreBasedLockProvider needs the package pymetastore: pip install 'pyhudi\[hive\]'"):
        lock_provider(resolve(WHOLE))


def test_class_of_another_package_is_not_known() -> None:
    with pytest.raises(Exception, match=r"is not served.*org\.apache\.hudi\.hive\.transaction\.lock\.HiveMetastoreBasedLockProvider"):
        lock_provider(resolve({"hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.HiveMetastoreBasedLockProvider"}))

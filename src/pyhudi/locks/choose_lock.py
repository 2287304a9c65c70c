"""Which lock provider the options name, and the storage of a table that is locked by it.

Rules: `HoodieLockConfig`, `LockManager`. The options of a call come first; where they name no provider, those do that the table was opened
with, or `hudi-defaults.conf`.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from pyhudi.errors import OptionError, UnsupportedError
from pyhudi.locks import custom_lock, dynamodb_lock, file_system_lock, hive_lock, storage_lock, zookeeper_lock
from pyhudi.locks.custom_lock import custom_provider, is_custom
from pyhudi.locks.dynamodb_lock import dynamodb_provider, implicit_dynamodb_provider
from pyhudi.locks.file_system_lock import file_system_provider
from pyhudi.locks.hive_lock import hive_provider
from pyhudi.locks.lock_provider import WAIT, LockProvider
from pyhudi.locks.provided_storage import ProvidedStorage
from pyhudi.locks.storage_lock import storage_provider
from pyhudi.locks.zookeeper_lock import implicit_zookeeper_provider, zookeeper_provider
from pyhudi.spec.config.concurrency_keys import CUSTOM_LOCK, MODE
from pyhudi.spec.options import Options, resolve
from pyhudi.storage.defaults_file import default_options
from pyhudi.storage.open_storage import open_storage
from pyhudi.storage.recreated_storage import RecreatedStorage
from pyhudi.storage.remote.cloud_storage import CloudStorage
from pyhudi.storage.storage_protocol import HeldLock, Storage

PROVIDER: Final = "hoodie.write.lock.provider"
CLOCK_SKEW: Final = "hoodie.time.generator.max_expected_clock_skew_ms"
_IN_PROCESS: Final = "InProcessLockProvider"
_PACKAGE: Final = "org.apache.hudi.client.transaction.lock."
#: Packages of the classes that are in other parts of Apache Hudi than the client.
_PACKAGES: Final = {
    hive_lock.CLASS: "org.apache.hudi.hive.transaction.lock.",
    dynamodb_lock.CLASS: "org.apache.hudi.aws.transaction.lock.",
    dynamodb_lock.IMPLICIT_CLASS: "org.apache.hudi.aws.transaction.lock.",
}
_PROVIDERS: Final[Mapping[str, Callable[[Options], LockProvider]]] = {
    file_system_lock.CLASS: file_system_provider,
    storage_lock.CLASS: storage_provider,
    zookeeper_lock.CLASS: zookeeper_provider,
    zookeeper_lock.IMPLICIT_CLASS: implicit_zookeeper_provider,
    hive_lock.CLASS: hive_provider,
    dynamodb_lock.CLASS: dynamodb_provider,
    dynamodb_lock.IMPLICIT_CLASS: implicit_dynamodb_provider,
}
#: Options of one provider, by how their names begin.
_FAMILIES: Final = {
    "hoodie.write.lock.filesystem.": (file_system_lock.CLASS,),
    "hoodie.write.lock.storage.": (storage_lock.CLASS,),
    "hoodie.write.lock.zookeeper.": (zookeeper_lock.CLASS, zookeeper_lock.IMPLICIT_CLASS),
    "hoodie.write.lock.hivemetastore.": (hive_lock.CLASS,),
    "hoodie.write.lock.dynamodb.": (dynamodb_lock.CLASS, dynamodb_lock.IMPLICIT_CLASS),
    CUSTOM_LOCK: (custom_lock.CLASS,),
}
#: How the names of options begin that a table can be opened with; DynamoDB needs the credentials of AWS.
_OF_LOCKS: Final = ("hoodie.write.lock.", "hoodie.aws.")


def with_lock_provider(storage: Storage, options: Options) -> Storage:
    """Return the storage of a table whose lock is also that of the provider which the options name; as it is when they name none.

    Apache Hudi's `InProcessLockProvider` is what the table's own lock does in any case. On stores with conditional writes, which have no
    file locks, that is `StorageBasedLockProvider`.

    Raises:
        OptionError: an option of the provider is missing or wrong, belongs to another provider, or the table was opened with another one.
        UnsupportedError: the provider is not served.
    """
    if isinstance(storage, RecreatedStorage):
        return storage  # whoever writes it holds the provider's lock
    if isinstance(storage, ProvidedStorage) and options.get(WAIT) is not None:
        storage = replace(storage, wait_s=None)  # the caller says it
    provider = lock_provider(options, _default_class(storage))
    if provider is None:
        return storage
    provided = ProvidedStorage(unprovided(storage), provider, options.integer(CLOCK_SKEW) / 1000)
    if not isinstance(storage, ProvidedStorage):
        return provided
    if storage.provider != provider:
        raise OptionError(
            f"{PROVIDER} names {provider.identity}, and table {storage.uri} was opened with {storage.provider.identity}; all its writers"
            " must name the same one."
        )
    return replace(provided, wait_s=storage.wait_s)


def lock_wait_s(options: Options, otherwise: float) -> float:
    """Return how many seconds to wait for the lock: what the options state, `otherwise` where they do not.

    Example:
        >>> lock_wait_s(resolve({"hoodie.write.lock.wait_time_ms": "500"}), 60.0)
        0.5
    """
    return options.integer(WAIT) / 1000 if options.get(WAIT) is not None else otherwise


def open_table_storage(path: str | os.PathLike[str], storage_options: Mapping[str, str] | None = None) -> Storage:
    """Return the storage of the table at a path or URI, with the lock provider that `hoodie.*` options among its own name; see
    `open_storage`.

    Raises:
        OptionError: a `hoodie.*` option is none of a lock provider's, or no provider is named for which it would count.
    """
    stated = storage_options or {}
    of_lock = {name: stated[name] for name in stated if str(name).startswith("hoodie.")}
    if not of_lock:
        return open_storage(path, storage_options)
    others = [name for name in of_lock if not name.startswith(_OF_LOCKS) and name != CLOCK_SKEW]
    if others:
        raise OptionError(f"{others[0]} is no option of a storage or of a lock provider; give it to the write, the read or the service.")
    rest = {name: value for name, value in stated.items() if name not in of_lock}
    options = resolve(of_lock)
    storage = with_lock_provider(open_storage(path, rest or None), options)
    if options.get(WAIT) is None:
        return storage
    if not isinstance(storage, ProvidedStorage):
        raise OptionError(f"{WAIT} has no effect without {PROVIDER}; name a provider, or give it to the write or the service.")
    return replace(storage, wait_s=options.integer(WAIT) / 1000)


def options_of_lock(options: Options) -> dict[str, str]:
    """Return those options that name a lock provider and are its own, as `open_table_storage` takes them; none where none is named.

    Example:
        >>> options_of_lock(resolve({"hoodie.write.lock.provider": "InProcessLockProvider", "hoodie.parquet.block.size": "1"}))
        {'hoodie.write.lock.provider': 'InProcessLockProvider'}
    """
    implied = {PROVIDER: zookeeper_lock.CLASS} if _has_servers_of_zookeeper(options) else {}
    if not implied and not options.text(PROVIDER).strip():
        return {}
    return implied | {name: value for name, value in options.given.items() if name.startswith(_OF_LOCKS) or name == CLOCK_SKEW}


def lock_provider(options: Options, default: str = "") -> LockProvider | None:
    """Return the provider that the options name, None for the table's own lock alone; errors as of `with_lock_provider`.

    Args:
        options: of the call.
        default: the class that is the table's own lock, if it is a provider's.
    """
    name = options.text(PROVIDER).strip()
    full_names = {_PACKAGES.get(one, _PACKAGE) + one: one for one in (_IN_PROCESS, *_PROVIDERS)}
    simple_name = full_names.get(name, name)
    if not simple_name and _has_servers_of_zookeeper(options):
        simple_name = zookeeper_lock.CLASS
    simple_name = default if default and simple_name in ("", _IN_PROCESS) else simple_name
    _check_families(options, custom_lock.CLASS if is_custom(name) else simple_name)
    if simple_name in ("", _IN_PROCESS):
        return None
    if is_custom(name):
        return custom_provider(name, options)
    if simple_name not in _PROVIDERS:
        raise UnsupportedError(
            f"{PROVIDER}={name} is not served. It can be {', '.join(full_names)}, a class in Python that is written as module:Class, or a"
            " name that is registered by pyhudi.register_lock_provider."
        )
    return _PROVIDERS[simple_name](options)


def _has_servers_of_zookeeper(options: Options) -> bool:
    """Tell whether one of several writers names servers of ZooKeeper, whose provider is the default of `HoodieLockConfig`."""
    is_alone = options.text(MODE).strip().upper() in ("", "SINGLE_WRITER")
    return not is_alone and bool(options.text(zookeeper_lock.URL).strip())


def _default_class(storage: Storage) -> str:
    """Return the class of provider of a table for which none is named: stores with conditional writes have one that needs no options."""
    return storage_lock.CLASS if isinstance(storage, CloudStorage) and not storage.has_lock_file else ""


def unprovided(storage: Storage) -> Storage:
    """Return the storage of a table without its lock provider, if it has one."""
    return storage.inner if isinstance(storage, ProvidedStorage) else storage


@contextlib.contextmanager
def hold_lock(storage: Storage, timeout_s: float) -> Iterator[HeldLock]:
    """Hold the lock of a table's writers, with the provider that `hudi-defaults.conf` names where the storage has none.

    Raises:
        LockTimeoutError: others held it for longer than `timeout_s` seconds.
        OptionError: the table is written under another lock.
    """
    with with_default_provider(storage).lock(timeout_s) as lock:
        yield lock


def with_default_provider(storage: Storage) -> Storage:
    """Return the storage of a table with the lock provider that `hudi-defaults.conf` names, or its store has, where it has none yet.

    Raises:
        OptionError: an option of the provider is missing or wrong.
        UnsupportedError: the provider is not served.
    """
    if isinstance(storage, ProvidedStorage):
        return storage
    options = default_options()
    return with_lock_provider(storage, resolve(options)) if options or isinstance(storage, CloudStorage) else storage


def _check_families(options: Options, provider: str) -> None:
    """Refuse options of a provider that is not the one that is used: their writer thinks that another lock is taken."""
    for name in options.given:
        for prefix, classes in _FAMILIES.items():
            if name.startswith(prefix.rstrip("*")) and provider not in classes:
                raise OptionError(
                    f"{name} is an option of {classes[0]}, and {PROVIDER} is '{provider}'. Name {classes[0]} in {PROVIDER}, or leave"
                    " the option out."
                )

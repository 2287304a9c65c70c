"""Lock providers of the user's own: a Python object that is registered under a name, or of a class that the option names as `module:Class`.

pyhudi's own addition: for locks of other services, such as a database or etcd, and for the Java classes of a company that writes with
Apache Hudi too.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from pyhudi.errors import HudiError, OptionError, StorageError
from pyhudi.locks.lock_provider import ProviderLock
from pyhudi.spec.options import Options
from pyhudi.spec.user_class import user_object
from pyhudi.storage.storage_protocol import Storage

#: What messages call providers of this kind.
CLASS: Final = "a lock provider in Python"
_OPTION: Final = "hoodie.write.lock.provider"
_OF_LOCKS: Final = "hoodie.write.lock."
_METHODS: Final = ("acquire", "is_held", "release", "holder")

_log = logging.getLogger(__name__)


class CustomLockProvider(Protocol):
    """What `hoodie.write.lock.provider` can name besides Apache Hudi's classes.

    The options that the methods get are those of the write that begin with `hoodie.write.lock.`, as texts; the provider's own ones begin
    with `hoodie.write.lock.custom.`.
    """

    def location(self, options: Mapping[str, str]) -> str:
        """Return where the locks are, such as the address of a service: what all writers of a table must have in common.

        The table records it, and a writer with another one is refused.
        """
        ...

    def lock(self, table: str, options: Mapping[str, str]) -> ProviderLock:
        """Return the lock of a table, for one holder; nothing is taken yet.

        Args:
            table: its path or URI.
            options: of locks.
        """
        ...


_REGISTERED: dict[str, CustomLockProvider] = {}


def register_lock_provider(name: str, provider: CustomLockProvider) -> None:
    """Lock tables by `provider` where `hoodie.write.lock.provider` is this name, in this process.

    Args:
        name: the option as the writes give it; may be the name of a Java class.
        provider: gives the locks. Several threads may use it.

    Example:
        >>> import threading
        >>> class OneProcess:
        ...     def __init__(self):
        ...         self.one = threading.Lock()
        ...     def location(self, options):
        ...         return "this process"
        ...     def lock(self, table, options):
        ...         return self
        ...     def acquire(self, timeout_s):
        ...         return self.one.acquire(timeout=timeout_s)
        ...     def is_held(self):
        ...         return self.one.locked()
        ...     def release(self):
        ...         self.one.release()
        ...     def holder(self):
        ...         return "A thread of this process has it."
        >>> register_lock_provider("com.example.OneProcess", OneProcess())
    """
    _REGISTERED[name] = provider


def is_custom(name: str) -> bool:
    """Tell whether the value of the option names a provider of the user's own."""
    return ":" in name or name in _REGISTERED


@dataclass(frozen=True, slots=True)
class CustomProvider:
    """Locks tables by the provider that is registered under `name`, or of the class that it names."""

    name: str
    location: str
    options: tuple[tuple[str, str], ...]

    @property
    def identity(self) -> str:
        """The name, and where the provider says that its locks are."""
        return f"{self.name} at '{self.location}'"

    def lock(self, storage: Storage, domain: str) -> ProviderLock:  # noqa: ARG002 - the protocol for users has no locks of machines
        """Return the lock of a table.

        Raises:
            StorageError: the provider raised an error.
            OptionError: it gave no lock.
        """
        try:
            lock = _find(self.name).lock(storage.uri, dict(self.options))
        except HudiError:
            raise
        except Exception as error:
            raise StorageError(f"{self.name} gives no lock of table {storage.uri}: {type(error).__name__}: {error}") from error
        missing = [method for method in _METHODS if not callable(getattr(lock, method, None))]
        if missing:
            raise OptionError(
                f"the lock that {self.name} gives for table {storage.uri} has no method {missing[0]}; it needs {', '.join(_METHODS)}."
            )
        return CustomLock(lock, self.name, storage.uri)


class CustomLock:
    """The lock of a provider of the user's own: other errors than pyhudi's are translated."""

    def __init__(self, lock: ProviderLock, name: str, table: str) -> None:
        """Nothing is taken yet; `table` is the URI of the table that is locked."""
        self._lock, self._name, self._table = lock, name, table

    def acquire(self, timeout_s: float) -> bool:
        """Take the lock; see the protocol.

        Raises:
            StorageError: the provider raised an error.
        """
        try:
            return bool(self._lock.acquire(timeout_s))
        except HudiError:
            raise
        except Exception as error:
            raise StorageError(
                f"{self._name} cannot take the lock of table {self._table}: {type(error).__name__}: {error}. Nothing was written."
            ) from error

    def is_held(self) -> bool:
        """Tell whether the lock still excludes others; an error is a no."""
        try:
            return self._lock.is_held() is True
        except Exception as error:  # noqa: BLE001 - whatever the provider raises, nobody can tell
            _log.warning("%s cannot tell whether the lock of table %s is held: %s", self._name, self._table, error)
            return False

    def release(self) -> None:
        """Give the lock back; an error is logged, since the write is done by then."""
        try:
            self._lock.release()
        except Exception as error:  # noqa: BLE001 - see above
            _log.warning("%s did not release the lock of table %s: %s", self._name, self._table, error)

    def holder(self) -> str:
        """Say who holds the lock, as the provider knows it."""
        try:
            return str(self._lock.holder())
        except Exception as error:  # noqa: BLE001 - this only completes the message of another error
            return f"{self._name} cannot say who holds it: {error}."


def custom_provider(name: str, options: Options) -> CustomProvider:
    """Return the provider that is registered under a name, or of the class `module:Class`.

    Raises:
        OptionError: there is no such class, or it is none of a lock provider.
    """
    given = {one: value for one, value in options.given.items() if one.startswith(_OF_LOCKS)}
    provider = _find(name)
    try:
        location: object = provider.location(given)
    except HudiError:
        raise
    except Exception as error:
        raise OptionError(f"{_OPTION}={name} has no location for the options {sorted(given)}: {type(error).__name__}: {error}.") from error
    if not isinstance(location, str) or not location:
        raise OptionError(f"{_OPTION}={name} must say by a text, location(options), where its locks are; it gave {location!r}.")
    return CustomProvider(name, location, tuple(sorted(given.items())))


def _find(name: str) -> CustomLockProvider:
    registered = _REGISTERED.get(name)
    if registered is not None:
        return registered
    provider: CustomLockProvider = user_object(_OPTION, name, "lock(table, options)", "lock provider")
    return provider

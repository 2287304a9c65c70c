"""The client of a store: opened once for each URL and settings, and its errors as those of pyhudi.

obstore is written in Rust and has threads of its own, which a forked child does not have: a request in the child would wait for ever. Such
a request is refused instead.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, Final

from pyhudi.errors import AlreadyExistsError, HudiError, OptionError, StorageError
from pyhudi.storage.remote.cloud_options import ENDPOINTS, FAMILIES, TIMEOUTS, client_timeouts, store_settings

_SCHEMES: Final = {"aws": "s3", "google": "gs"}
#: Where obstore looks for the address of a store that its settings do not state; the SDKs of AWS have the first two.
_ENDPOINT_VARIABLES: Final = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
#: Without credentials obstore asks the machine for its role, which elsewhere than in a cloud ends by these limits only. obstore does not
#: look at `Retry-After`, and its own pauses before six repetitions are 1.3 s together in the mean, less than a store throttles for. Each
#: pause is chosen between the first one and `base` times the last one: these are 9 s together, less than 5.7 s once in a hundred times.
_RETRIES: Final = {
    "max_retries": 6,
    "retry_timeout": timedelta(seconds=60),
    "backoff": {"init_backoff": timedelta(seconds=0.1), "max_backoff": timedelta(seconds=2), "base": 20},
}

#: The services of machines in a cloud that give the credentials of their roles.
_INSTANCE_METADATA: Final = ("169.254.169.254", "metadata.google.internal")
#: How obstore's errors say that the time of a request was over.
_NO_ANSWER: Final = ("kind: Timeout", "TimedOut")
#: How they say that obstore has repeated the request itself, and that the connection broke.
REPEATED: Final = "max_retries"
BROKEN: Final = "HTTP error"
#: What the store answers when it refuses for the time being.
_REFUSED: Final = re.compile(r"status code: (429|5\d\d)")
#: The codes by which S3 and Google Cloud Storage, and Azure, say that there is no such bucket.
_NO_BUCKET: Final = ("NoSuchBucket", "ContainerNotFound")


def open_store(url: str, options: tuple[tuple[str, Any], ...]) -> Any:
    """Return obstore's store for the URL of a table; its paths are relative to the table.

    Raises:
        OptionError: an option is not known.
        StorageError: obstore is not installed, the store cannot be opened, or this is a forked child of a process that uses one.
    """
    if _first_process() != os.getpid():
        raise StorageError(
            f"table {url} cannot be used in a process that was forked from one that has used an object store: start processes by 'spawn'"
            " (multiprocessing.get_context('spawn')), or open the first table after the fork"
        )
    return _open(url, tuple((name, _hashable(value)) for name, value in options))


def obstore_functions() -> Any:
    """Return the module whose functions make the requests."""
    return importlib.import_module("obstore")


@functools.cache
def _first_process() -> int:
    return os.getpid()


@functools.lru_cache(64)
def _open(url: str, options: tuple[tuple[str, Any], ...]) -> Any:
    stated = {name: dict(value) if isinstance(value, tuple) else value for name, value in options}
    settings = store_settings(url, stated)
    scheme, _, rest = url.partition("://")
    served = _SCHEMES.get(FAMILIES[scheme], scheme)
    client = {**client_timeouts(stated), **({"allow_http": True} if _endpoint(settings).startswith("http://") else {})}
    try:
        store = importlib.import_module("obstore.store")
    except ImportError as error:
        raise StorageError(f"the storage of table {url} cannot be opened: pip install 'pyhudi[object-store]'") from error
    try:
        return store.from_url(f"{served}://{rest}", config=settings or None, client_options=client, retry_config=_RETRIES)
    except Exception as error:  # obstore's own classes
        if type(error).__name__ in ("UnknownConfigurationKeyError", "ValueError", "InvalidPathError"):
            raise OptionError(f"'{url}' cannot be opened with these storage options: {first_line(error)}") from error
        raise StorageError(
            f"the storage of table {url} cannot be opened, which says nothing about the table in it: {first_line(error)}"
        ) from error


def _endpoint(settings: Mapping[str, str]) -> str:
    """Return the address of a store where settings or the environment state one."""
    stated = (*map(settings.get, ENDPOINTS), *map(os.environ.get, _ENDPOINT_VARIABLES))
    return next(filter(None, stated), "")


def _hashable(value: object) -> object:
    return tuple(sorted(value.items())) if isinstance(value, dict) else value


@contextlib.contextmanager
def store_errors(url: str, path: str, *, writes: bool = False) -> Iterator[None]:
    """Turn what obstore raises into errors that name the file; a file that is not there remains a `FileNotFoundError` for who reads."""
    try:
        yield
    except HudiError:
        raise
    except FileNotFoundError as error:
        if not writes and not _says_no_bucket(error):
            raise FileNotFoundError(f"file '{path}' of table {url} does not exist") from error
        raise _no_bucket(url, path) from error
    except Exception as error:
        if _says_no_bucket(error):
            raise _no_bucket(url, path) from error
        if type(error).__name__ in ("AlreadyExistsError", "PreconditionError"):
            raise AlreadyExistsError(f"file '{path}' of table {url} exists already") from error
        raise StorageError(f"cannot use {_subject(url, path)}: {_explanation(error)}") from error


def _says_no_bucket(error: Exception) -> bool:
    return any(code in str(error) for code in _NO_BUCKET)


def _no_bucket(url: str, path: str) -> StorageError:
    return StorageError(
        f"cannot use {_subject(url, path)}: the bucket or container does not exist, or these credentials do not show it. Check its name"
        " and the region"
    )


def _subject(url: str, path: str) -> str:
    return f"'{path}' of table {url}" if path else f"the listing of table {url}"


def first_line(error: Exception) -> str:
    """Return what an error of obstore says without the structure of Rust that follows."""
    return str(error).partition("\n\nDebug source")[0].strip()[:1000]


def is_without_answer(error: Exception) -> bool:
    """Tell whether an error of obstore says that the store was not reached, or refuses for the time being."""
    text = first_line(error)
    return BROKEN in text or _REFUSED.search(text) is not None


def _explanation(error: Exception) -> str:
    """Return what an error says and what to do; that a machine has no role is no failure of the address that was asked for it."""
    text = first_line(error)
    if any(host in text for host in _INSTANCE_METADATA):
        advice = "no credentials were found: give them as storage options or in the environment, or add the option 'anon': True"
        return f"{advice} (this machine was asked for its role: {text})"
    return f"{text}{_hint(error)}"


def _hint(error: Exception) -> str:
    text = str(error)
    if type(error).__name__ in ("PermissionDeniedError", "UnauthenticatedError") or "ExpiredToken" in text:
        return (
            ". Check the credentials: they may be missing, expired, or without the right to this bucket. They are storage options ('key',"
            " 'secret', 'token'; 'account_name', 'account_key', 'sas_token'), or come from the environment or the profile"
        )
    if any(kind in text for kind in _NO_ANSWER):
        default = f"{TIMEOUTS['timeout']:g} seconds by default"
        return f". The store did not answer in time. How long a request may take is the storage option 'timeout', {default}"
    if "PermanentRedirect" in text or "missing Location header" in text or "301" in text:
        return ". The bucket may be in another region: set AWS_REGION or the storage option 'region'"
    if _REFUSED.search(text):
        return ". The store refuses requests for the time being. Let fewer processes use it at a time, and try again later"
    if BROKEN in text:
        return ". The connection to the store breaks. Check the network and the address of the store, and try again"
    return ""

"""The fsspec file system of a URL, and what to install where one cannot be opened.

Rules: fsspec's registry of file systems; packages that register schemes of their own when they are installed (`adlfs`, `ocifs`). That a
storage cannot be opened says nothing about the table in it: it is never taken for an absent or a damaged one.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, Final

from pyhudi.errors import HudiError, OptionError, StorageError, UnsupportedError

_PACKAGES: Final = {
    "s3fs": "s3 s3a s3n",
    "gcsfs": "gs gcs",
    "adlfs": "abfs abfss az adl",
    "ossfs": "oss",
    "ocifs": "oci",
    "tosfs": "tos",
    "huggingface_hub": "hf",
    "paramiko": "sftp ssh",
    "smbprotocol": "smb",
    "aiohttp requests": "http https",
    "requests": "webhdfs",
}
_BY_SCHEME: Final = {scheme: package for package, schemes in _PACKAGES.items() for scheme in schemes.split()}
_HADOOP: Final = frozenset({"hdfs", "viewfs"})
#: Hadoop's names for stores that fsspec knows under another.
_FSSPEC_SCHEMES: Final = {"s3n": "s3"}
#: Schemes of Hadoop whose stores are read under another one.
_OTHERWISE: Final = {"wasb": "abfs", "wasbs": "abfss"}


def open_file_system(url: str, options: Mapping[str, object]) -> tuple[Any, str]:
    """Return fsspec's file system of a URL and the path in it.

    Raises:
        OptionError: the URL or the options are not what the file system takes.
        StorageError: fsspec or the package of the scheme is not installed, or the storage cannot be opened.
        UnsupportedError: nothing serves the scheme.
    """
    scheme, _, rest = url.partition("://")
    try:
        core = importlib.import_module("fsspec.core")
    except ImportError as error:
        raise _open_error(url, f"fsspec is not installed: {advice(scheme, has_fsspec=False)}") from error
    try:
        system, root = core.url_to_fs(f"{_FSSPEC_SCHEMES.get(scheme, scheme)}://{rest}", **options)
    except ImportError as error:
        raise _open_error(url, f"a package is not installed ({error}): {advice(scheme)}") from error
    except (TypeError, ValueError) as error:
        raise _not_taken(url, scheme, error) from error
    except Exception as error:  # each store's package has errors of its own; some ask for credentials or connect here
        hint = f"; {advice(scheme)}" if scheme in _HADOOP else ""
        raise _open_error(url, f"{type(error).__name__}: {error}{hint}") from error
    return system, root


def advice(scheme: str, *, has_fsspec: bool = True) -> str:
    """Return what helps when the storage of a scheme cannot be opened because a package is missing.

    Example:
        >>> advice("abfss")
        'pip install adlfs'
        >>> advice("s3", has_fsspec=False)
        "pip install 'pyhudi[object-store]' s3fs"
    """
    if scheme in _HADOOP:
        return "install Hadoop's native client (libhdfs) and set HADOOP_HOME, JAVA_HOME and CLASSPATH=$(hadoop classpath --glob)"
    packages = [] if has_fsspec else ["'pyhudi[object-store]'"]
    packages += [_BY_SCHEME[scheme]] if scheme in _BY_SCHEME else []
    return f"pip install {' '.join(packages)}" if packages else "install the fsspec package of that storage"


def _not_taken(url: str, scheme: str, error: Exception) -> HudiError:
    """Return the error of a URL or of options that fsspec does not take; a scheme that it does not know may want a package."""
    if "Protocol not known" not in str(error):
        return OptionError(f"'{url}' cannot be opened with these storage options: {error}")
    if scheme in _BY_SCHEME:
        return _open_error(url, f"a package is not installed ({error}): {advice(scheme)}")
    other = _OTHERWISE.get(scheme)
    instead = f"name the same place by {other}://" if other else f"where fsspec has a package for it, {advice(scheme)}"
    return UnsupportedError(f"no storage serves '{scheme}:', of table {url}: {instead}")


def _open_error(url: str, reason: str) -> StorageError:
    return StorageError(f"the storage of table {url} cannot be opened, which says nothing about the table in it: {reason}")

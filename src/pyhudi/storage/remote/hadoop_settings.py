"""The settings of Hadoop that an engine's session states: those of S3A (`fs.s3a.*`) as storage options, and others by name.

Rules: Hadoop's `S3AFileSystem`: settings of one bucket (`fs.s3a.bucket.<name>.*`) come before those of all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from pyhudi.storage.remote.cloud_options import FAMILIES

#: Returns the value of a setting, None where it is not stated.
Lookup: TypeAlias = Callable[[str], str | None]

_PREFIX: Final = "fs.s3a."
_CREDENTIALS: Final = ("access.key", "secret.key", "session.token")
_REGION: Final = "endpoint.region"
_ENDPOINT: Final = "endpoint"
_PROVIDER: Final = "aws.credentials.provider"
_SSL: Final = "connection.ssl.enabled"
_ANONYMOUS: Final = "AnonymousAWSCredentialsProvider"
#: Names of storage options that decide on the credentials: the session's are left out where one of them is given.
_DECIDES: Final = frozenset(
    ["key", "secret", "token", "anon", "profile", "access_key_id", "secret_access_key", "session_token", "skip_signature"]
    + ["aws_access_key_id", "aws_secret_access_key", "aws_session_token", "aws_skip_signature"]
    + [f"{_PREFIX}{name}" for name in _CREDENTIALS]
)
#: Names of storage options that say where the store is, by the setting in whose place they are.
_SAYS_WHERE: Final = {
    _ENDPOINT: frozenset(("endpoint_url", "endpoint", "aws_endpoint", f"{_PREFIX}{_ENDPOINT}", "client_kwargs")),
    _REGION: frozenset(("region", "region_name", "default_region", "aws_region", "aws_default_region", f"{_PREFIX}{_REGION}")),
}
#: What gives the settings of the session at work, one entry while an engine has sessions.
_lookups: Final[list[Callable[[], Lookup | None]]] = []


def use_settings_of(sessions: Callable[[], Lookup | None] | None) -> None:
    """Take settings from the session that a function returns, None while there is none; without a function take none."""
    _lookups[:] = [] if sessions is None else [sessions]


def with_session_settings(url: str, options: Mapping[str, str]) -> dict[str, str]:
    """Return the storage options of a table with what the session states and they do not; other stores than S3 are left as they are."""
    if FAMILIES.get(url.partition("://")[0]) != "aws" or not _lookups:
        return dict(options)
    lookup = _lookups[0]()
    return {**({} if lookup is None else _stated(url, options, lookup)), **options}


def session_setting(name: str) -> str | None:
    """Return a setting of Hadoop of the session at work; None where it has none, or there is no session."""
    lookup = _lookups[0]() if _lookups else None
    return None if lookup is None else (lookup(name) or "").strip() or None


def _stated(url: str, options: Mapping[str, str], lookup: Lookup) -> dict[str, str]:
    """Return what a session states of what the options leave open.

    Example:
        >>> _stated("s3a://b/t", {}, {"fs.s3a.access.key": "A", "fs.s3a.endpoint": "localhost:9000"}.get)
        {'fs.s3a.access.key': 'A', 'fs.s3a.endpoint': 'https://localhost:9000'}
    """
    bucket = url.partition("://")[2].partition("/")[0]

    def setting(name: str) -> str:
        return (lookup(f"{_PREFIX}bucket.{bucket}.{name}") or lookup(f"{_PREFIX}{name}") or "").strip()

    given = {name.lower() for name in options}
    stated: dict[str, str] = {}
    if given.isdisjoint(_DECIDES):
        stated |= {f"{_PREFIX}{name}": value for name in _CREDENTIALS if (value := setting(name))}
        if not stated and setting(_PROVIDER).rpartition(".")[2] == _ANONYMOUS:
            stated["anon"] = "true"
    for name, others in _SAYS_WHERE.items():
        if given.isdisjoint(others) and (value := setting(name)):
            stated[f"{_PREFIX}{name}"] = value
    if (endpoint := stated.get(f"{_PREFIX}{_ENDPOINT}")) and "://" not in endpoint:
        stated[f"{_PREFIX}{_ENDPOINT}"] = f"{'http' if setting(_SSL).lower() == 'false' else 'https'}://{endpoint}"
    return stated

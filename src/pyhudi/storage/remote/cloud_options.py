"""From the storage options of a table on S3, Google Cloud Storage or Azure to the settings of obstore.

Options may have the names of fsspec's packages (`s3fs`, `gcsfs`, `adlfs`), of Hadoop's S3A, or obstore's own. What is not given comes from
the environment (`AWS_ACCESS_KEY_ID`, `GOOGLE_APPLICATION_CREDENTIALS`, `AZURE_STORAGE_ACCOUNT_KEY`, ...), and for S3 from the profile in
the AWS configuration files.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping
from typing import Any, Final

from pyhudi.errors import OptionError
from pyhudi.storage.remote.aws_profile import read_profile

#: Schemes that obstore serves, and the family of each.
FAMILIES: Final = {
    **dict.fromkeys(("s3", "s3a", "s3n"), "aws"),
    **dict.fromkeys(("gs", "gcs"), "google"),
    **dict.fromkeys(("abfs", "abfss", "az"), "azure"),
}
_AWS: Final = {
    "aws_access_key_id": "key access_key_id fs.s3a.access.key",
    "aws_secret_access_key": "secret secret_access_key fs.s3a.secret.key",
    "aws_session_token": "token session_token fs.s3a.session.token",
    "aws_endpoint": "endpoint_url endpoint fs.s3a.endpoint",
    "aws_region": "region region_name default_region aws_default_region fs.s3a.endpoint.region",
    "aws_skip_signature": "anon skip_signature",
}
_GOOGLE: Final = {
    "google_service_account": "token service_account",
    "google_base_url": "endpoint_url endpoint base_url",
    "google_skip_signature": "anon skip_signature",
}
_AZURE: Final = {
    "azure_storage_account_name": "account_name",
    "azure_storage_account_key": "account_key",
    "azure_storage_sas_token": "sas_token",
    "azure_storage_client_id": "client_id",
    "azure_storage_client_secret": "client_secret",
    "azure_storage_tenant_id": "tenant_id",
    "azure_storage_endpoint": "endpoint endpoint_url",
    "azure_skip_signature": "anon skip_signature",
}
_NAMES: Final = {"aws": _AWS, "google": _GOOGLE, "azure": _AZURE}
#: Settings that hold the address of a store.
ENDPOINTS: Final = ("aws_endpoint", "google_base_url", "azure_storage_endpoint")
#: Options that limit how long a request may take, with the seconds that they have by default. One request moves at most a file of some
#: hundred megabytes; obstore's own limit of 30 s would break it off on a slow line.
TIMEOUTS: Final = {"timeout": 300.0, "connect_timeout": 5.0}
_SECONDS: Final = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)s?")
#: Options of fsspec's packages that have no effect here.
_WITHOUT_EFFECT: Final = frozenset(
    ["project", "use_ssl", "default_fill_cache", "default_cache_type"]
    + [f"fs.s3a.{name}" for name in ("path.style.access", "connection.ssl.enabled", "impl")]
)


def store_settings(url: str, options: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings of obstore for a URL and the storage options of its table.

    Raises:
        OptionError: an option is not known, or the profile cannot be used.

    Example:
        >>> store_settings("s3://bucket/trips", {"key": "A", "secret": "B", "client_kwargs": {"region_name": "eu-west-1"}})
        {'aws_access_key_id': 'A', 'aws_secret_access_key': 'B', 'aws_region': 'eu-west-1'}
    """
    family = FAMILIES[url.partition("://")[0]]
    settings: dict[str, str] = {}
    profile = None
    for name, value in _flat(options):
        if name == "profile" and family == "aws":
            profile = str(value)
        elif name not in _WITHOUT_EFFECT and name not in TIMEOUTS:
            settings[_setting(url, family, name)] = _text(value)
    if family == "aws":
        _add_profile(settings, profile)
    if settings.get("google_service_account") == "anon":
        settings = {**settings, "google_skip_signature": "true"}
        del settings["google_service_account"]
    return settings


def client_timeouts(options: Mapping[str, Any]) -> dict[str, str]:
    """Return how long requests may take, as obstore's client takes it.

    Raises:
        OptionError: an option is no number of seconds above 0.

    Example:
        >>> client_timeouts({"timeout": 20})
        {'timeout': '20000ms', 'connect_timeout': '5000ms'}
    """
    stated = dict(_flat(options))
    return {name: f"{_milliseconds(name, stated.get(name, seconds))}ms" for name, seconds in TIMEOUTS.items()}


def _milliseconds(name: str, value: object) -> int:
    match = _SECONDS.fullmatch(str(value).strip())
    if match is None or float(match[1]) <= 0:
        raise OptionError(f"storage option '{name}' must be a number of seconds above 0, such as 30, got {value!r:.100}")
    return round(float(match[1]) * 1000)


def _flat(options: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the options, with what `s3fs` takes in `client_kwargs` among the others."""
    nested = options.get("client_kwargs", {})
    if not isinstance(nested, Mapping):
        raise OptionError(f"storage option 'client_kwargs' must be a dictionary, got {nested!r:.100}")
    return [*((name, value) for name, value in options.items() if name != "client_kwargs"), *nested.items()]


def _setting(url: str, family: str, name: str) -> str:
    settings = _NAMES[family]
    for setting, names in settings.items():
        if name.lower() == setting or name.lower() in names.split():
            return setting
    if name.lower().startswith(f"{family}_"):
        return name.lower()  # obstore checks its own names itself
    known = sorted(
        {*settings, *TIMEOUTS, *(one for names in settings.values() for one in names.split()), *(["profile"] if family == "aws" else [])}
    )
    nearest = difflib.get_close_matches(name, known, 1)
    hint = f"; did you mean '{nearest[0]}'?" if nearest else f"; options are {', '.join(known)}, and those of obstore, '{family}_...'"
    raise OptionError(
        f"storage option '{name}' of table {url} is not known{hint} For an option of the package of fsspec, add"
        " 'pyhudi.storage': 'fsspec' to use that package."
    )


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _add_profile(settings: dict[str, str], profile: str | None) -> None:
    """Add what the AWS configuration files say where options and environment name no credentials."""
    has_keys = "aws_access_key_id" in settings or "aws_skip_signature" in settings
    if has_keys or (profile is None and "AWS_ACCESS_KEY_ID" in os.environ):
        return
    for setting, value in read_profile(profile, os.environ).items():
        settings.setdefault(setting, value)
